// The photograph with its mask and strokes on a canvas, and the brush over it.

export const UNMARKED = 0, BACKGROUND = 1, OBJECT = 2;
const COLOURS = { [OBJECT]: [245, 150, 0], [BACKGROUND]: [0, 114, 200] };
const STRIPE = [150, 205, 255];
const SHARE = 0.78; // of a stroke's colour over the photograph
const VIEWS = {
  // What lies over the object and over the background: red, green, blue, share.
  outline: [[0, 0, 0, 0], [10, 14, 20, 0.43]],
  overlay: [[245, 150, 0, 0.47], [0, 90, 180, 0.47]],
};
const LINE = word([255, 255, 255, 255]), RIM = word([16, 16, 16, 255]);
const SHARP = 2.5; // scale from which the outline is drawn between the pixels
const MOST_EDGES = 60000;

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
    this.labels = new Uint8Array(width * height);
    this.shown = new ImageData(width, height);
    this.words = new Uint32Array(this.shown.data.buffer);
    this.sides = null;
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
    this.setScale(Math.max(0.02, Math.min(this.scale, 8)));
    this.x = (w - this.width * this.scale) / 2;
    this.y = (h - this.height * this.scale) / 2;
    this.fitted = true;
  }

  // The width of the outline depends on the scale.
  setScale(scale) {
    this.scale = scale;
    this.onZoom?.(scale);
    if (this.mask) this.compose();
    this.draw();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    if (!this.photo) return;
    const scale = Math.max(0.02, Math.min(40, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.setScale(scale);
    this.fitted = false;
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
    this.sides = null;
    this.compose();
  }

  // A mask has a byte for each pixel.
  setMask(mask) {
    this.mask = mask;
    this.outline = null;
    this.compose();
  }

  patch(x, y, width, height, data) {
    for (let row = 0; row < height; row++)
      this.labels.set(data.subarray(row * width, (row + 1) * width), (y + row) * this.width + x);
    if (width && height) this.compose();
  }

  // How every pixel looks as object, as background and without a mask.
  looks() {
    if (this.sides) return this.sides;
    const plain = new Uint32Array(this.pixels.buffer, this.pixels.byteOffset, this.labels.length);
    if (this.view === "cutout") this.sides = [plain, new Uint32Array(plain.length), plain];
    else this.sides = [...VIEWS[this.view].map((cover) => covered(plain, cover)), plain];
    return this.sides;
  }

  // Put photograph, mask, outline and strokes together; it is drawn with the next frame.
  compose() {
    if (!this.photo) return;
    const { mask, words, labels, width } = this;
    const [inside, outside, plain] = this.looks();
    if (mask) for (let i = 0; i < words.length; i++) words[i] = mask[i] ? inside[i] : outside[i];
    else words.set(plain);
    if (mask && this.view !== "cutout" && this.scale < SHARP)
      rasterOutline(words, mask, width, Math.max(1, Math.round(0.9 / this.scale)));
    if (this.showStrokes && this.view !== "cutout") strokesOver(words, labels, width);
    this.photo.getContext("2d").putImageData(this.shown, 0, 0);
    this.draw();
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
    if (this.view === "cutout" && this.mask) this.checkers();
    context.drawImage(this.photo, 0, 0);
    if (this.mask && this.view !== "cutout" && scale >= SHARP) {
      this.outline ??= outlineOf(this.mask, this.width, this.height);
      if (this.outline) this.line(this.outline, [["#000a", 3.5], ["#fff", 1.6]]);
    }
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

function word([red, green, blue, alpha]) {
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

function covered(plain, [red, green, blue, share]) {
  const out = new Uint32Array(plain.length);
  const rest = 1 - share;
  for (let i = 0; i < plain.length; i++) {
    const from = plain[i];
    out[i] = word([(from & 255) * rest + red * share, ((from >> 8) & 255) * rest + green * share,
      ((from >> 16) & 255) * rest + blue * share, from >>> 24]);
  }
  return out;
}

// A line within the object, with a dark rim around it, both `thick` pixels wide.
function rasterOutline(words, mask, width, thick) {
  const down = thick * width;
  const end = mask.length - down;
  for (let i = down; i < end; i++) {
    const own = mask[i];
    const near = mask[i - thick] + mask[i + thick] + mask[i - down] + mask[i + down];
    if (own ? near < 4 : near > 0) words[i] = own ? LINE : RIM;
  }
}

function strokesOver(words, labels, width) {
  const rest = 1 - SHARE;
  for (let i = 0; i < labels.length; i++) {
    const label = labels[i];
    if (label === UNMARKED) continue;
    const stripe = label === BACKGROUND && ((i % width) + Math.floor(i / width)) % 8 > 4;
    const [red, green, blue] = stripe ? STRIPE : COLOURS[label];
    const from = words[i];
    words[i] = word([(from & 255) * rest + red * SHARE, ((from >> 8) & 255) * rest + green * SHARE,
      ((from >> 16) & 255) * rest + blue * SHARE, 255]);
  }
}

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
