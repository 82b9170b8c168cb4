// The photograph with its mask and strokes on a canvas, and the brush over it.

export const UNMARKED = 0, BACKGROUND = 1, OBJECT = 2;
const COLOURS = { [OBJECT]: [245, 150, 0], [BACKGROUND]: [0, 114, 200] };
const STRIPE = [150, 205, 255];
const MOST_EDGES = 60000;
const VIEWS = {
  // What lies over the object and over the background: red, green, blue, opacity.
  outline: [[0, 0, 0, 0], [10, 14, 20, 110]],
  overlay: [[245, 150, 0, 120], [0, 90, 180, 120]],
  cutout: [[0, 0, 0, 0], [0, 0, 0, 0]],
};

const layer = (width, height) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  return canvas;
};

export class Picture {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.view = "outline";
    this.showStrokes = true;
    this.scale = 1;
    this.x = this.y = 0;
    this.after = [];
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  open(width, height, rgba) {
    [this.width, this.height] = [width, height];
    this.photo = layer(width, height);
    this.pixels = new Uint8ClampedArray(rgba);
    this.photo.getContext("2d").putImageData(new ImageData(this.pixels, width, height), 0, 0);
    this.labels = new Uint8Array(width * height);
    this.strokes = layer(width, height);
    this.tint = layer(width, height);
    this.box = null;
    this.setMask(null);
    this.fitted = true;
    this.resize();
  }

  resize() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    this.canvas.width = Math.max(1, Math.round(clientWidth * ratio));
    this.canvas.height = Math.max(1, Math.round(clientHeight * ratio));
    if (!this.photo) return;
    if (this.fitted) this.fit();
    this.draw();
  }

  fit() {
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    this.scale = Math.min((w - 32) / this.width, (h - 108) / this.height);
    this.scale = Math.max(0.02, Math.min(this.scale, 8));
    this.x = (w - this.width * this.scale) / 2;
    this.y = (h - this.height * this.scale) / 2;
    this.fitted = true;
    this.draw();
    this.onZoom?.(this.scale);
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    if (!this.photo) return;
    const scale = Math.max(0.02, Math.min(40, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.fitted = false;
    this.draw();
    this.onZoom?.(scale);
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.fitted = false;
    this.draw();
  }

  place(event) {
    const area = this.canvas.getBoundingClientRect();
    return [(event.clientX - area.left - this.x) / this.scale,
      (event.clientY - area.top - this.y) / this.scale];
  }

  setView(view) {
    this.view = view;
    this.paintTint();
    this.draw();
  }

  // A mask has a byte for each pixel.
  setMask(mask) {
    this.mask = mask;
    this.outline = mask && outlineOf(mask, this.width, this.height);
    this.paintTint();
    this.draw();
  }

  paintTint() {
    const { mask, width, height } = this;
    const context = this.tint?.getContext("2d");
    if (!context) return;
    context.clearRect(0, 0, width, height);
    if (!mask) return;
    const image = new ImageData(width, height);
    if (this.view === "cutout") {
      const [from, to] = [this.pixels, image.data];
      for (let i = 0, j = 0; i < mask.length; i++, j += 4) {
        if (!mask[i]) continue;
        to[j] = from[j]; to[j + 1] = from[j + 1]; to[j + 2] = from[j + 2]; to[j + 3] = from[j + 3];
      }
    } else {
      const [inside, outside] = VIEWS[this.view].map(word);
      const words = new Uint32Array(image.data.buffer);
      for (let i = 0; i < mask.length; i++) words[i] = mask[i] ? inside : outside;
    }
    context.putImageData(image, 0, 0);
  }

  patch(x, y, width, height, data) {
    if (!width || !height) return;
    const image = new ImageData(width, height);
    const words = new Uint32Array(image.data.buffer);
    const [object, background, stripe] = [word([...COLOURS[OBJECT], 235]),
      word([...COLOURS[BACKGROUND], 235]), word([...STRIPE, 235])];
    for (let row = 0, i = 0; row < height; row++) {
      const start = (y + row) * this.width + x;
      for (let column = 0; column < width; column++, i++) {
        const label = (this.labels[start + column] = data[i]);
        if (label === OBJECT) words[i] = object;
        else if (label === BACKGROUND)
          words[i] = (x + column + y + row) % 8 < 5 ? background : stripe;
      }
    }
    this.strokes.getContext("2d").putImageData(image, x, y);
  }

  // Draw with the next frame; `then` is called once it is on its way to the screen.
  draw(then) {
    if (then) this.after.push(then);
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      if (this.photo) this.render();
      const done = this.after.splice(0);
      if (done.length) {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => done.forEach((call) => call());
        channel.port2.postMessage(0);
      }
    });
  }

  render() {
    const { context, canvas, scale } = this;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * this.x, ratio * this.y);
    context.imageSmoothingEnabled = scale < 2;
    const cutout = this.view === "cutout" && this.mask;
    if (cutout) this.checkers(ratio);
    else context.drawImage(this.photo, 0, 0);
    context.drawImage(this.tint, 0, 0);
    if (this.showStrokes && !cutout) {
      context.globalAlpha = this.mask ? 0.75 : 1;
      context.drawImage(this.strokes, 0, 0);
      context.globalAlpha = 1;
    }
    if (this.outline && this.view !== "cutout") this.line(this.outline, [["#000a", 3.5], ["#fff", 1.6]]);
    if (this.box) this.rectangle(this.box);
    if (this.stroke) this.drawStroke(this.stroke);
    if (this.drawnBox) this.rectangle(this.drawnBox);
    if (this.brush) this.drawBrush(this.brush);
  }

  checkers() {
    const { context, width, height } = this;
    const size = 10 / this.scale;
    context.save();
    context.beginPath();
    context.rect(0, 0, width, height);
    context.clip();
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height);
    context.fillStyle = "#c4c8cc";
    context.beginPath();
    for (let y = 0, odd = 0; y < height; y += size, odd ^= 1)
      for (let x = odd * size; x < width; x += 2 * size) context.rect(x, y, size, size);
    context.fill();
    context.restore();
  }

  line(path, pens) {
    for (const [colour, width] of pens) {
      this.context.strokeStyle = colour;
      this.context.lineWidth = width / this.scale;
      this.context.stroke(path);
    }
  }

  rectangle([x1, y1, x2, y2]) {
    const path = new Path2D();
    path.rect(x1, y1, x2 - x1, y2 - y1);
    this.line(path, [["#000c", 3.5]]);
    this.context.setLineDash([7 / this.scale, 5 / this.scale]);
    this.line(path, [["#fff", 1.8]]);
    this.context.setLineDash([]);
  }

  drawStroke({ points, radius, label }) {
    const { context } = this;
    const colour = label === UNMARKED ? "128 128 128 / .6" : `${COLOURS[label].join(" ")} / .8`;
    context.strokeStyle = context.fillStyle = `rgb(${colour})`;
    context.lineWidth = 2 * radius;
    context.lineCap = context.lineJoin = "round";
    context.beginPath();
    points.forEach(([x, y]) => context.lineTo(x, y));
    if (points.length === 1) context.lineTo(points[0][0] + 0.01, points[0][1]);
    context.stroke();
  }

  drawBrush({ x, y, radius, label, cross }) {
    const path = new Path2D();
    path.arc(x, y, radius, 0, 2 * Math.PI);
    if (cross) {
      const arm = radius + 8 / this.scale;
      path.moveTo(x - arm, y); path.lineTo(x + arm, y);
      path.moveTo(x, y - arm); path.lineTo(x, y + arm);
    }
    const colour = label === UNMARKED ? "#fff" : `rgb(${COLOURS[label].join(" ")})`;
    this.line(path, [["#000b", 4], ["#fff", 2.6], [colour, 1.6]]);
  }
}

const word = ([red, green, blue, alpha]) => ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;

// The edges between the pixels of the mask and the others, in runs.
function outlineOf(mask, width, height) {
  const path = new Path2D();
  let count = 0;
  for (let y = 1; y < height; y++) {
    const [above, here] = [(y - 1) * width, y * width];
    for (let x = 0, start = -1; x <= width; x++) {
      const edge = x < width && mask[above + x] !== mask[here + x];
      if (edge && start < 0) start = x;
      if (!edge && start >= 0) {
        path.moveTo(start, y);
        path.lineTo(x, y);
        start = -1;
        if (++count > MOST_EDGES) return null;
      }
    }
  }
  const starts = new Int32Array(width).fill(-1);
  for (let y = 0; y <= height; y++) {
    const here = y * width;
    for (let x = 1; x < width; x++) {
      const edge = y < height && mask[here + x - 1] !== mask[here + x];
      if (edge === starts[x] >= 0) continue;
      if (edge) starts[x] = y;
      else {
        path.moveTo(x, starts[x]);
        path.lineTo(x, y);
        starts[x] = -1;
        if (++count > MOST_EDGES) return null;
      }
    }
  }
  return path;
}
