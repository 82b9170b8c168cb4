// The page: tools, keys and answers.  The desk at the other end of the wire keeps what is marked.

import { Wire } from "./wire.js";
import { Picture, UNMARKED, BACKGROUND, OBJECT } from "./picture.js";

const $ = (id) => document.getElementById(id);
const LABEL = { object: OBJECT, background: BACKGROUND, erase: UNMARKED };
const MOST_BYTES = 64 * 2 ** 20;
const PIECE = 80; // milliseconds between two pieces of a stroke
const LEVELS = 100;
const UNCHANGED = new Set(["open", "save", "stop"]); // after these a proof still holds

const picture = new Picture($("canvas"));
const state = {
  source: null, serial: 0, changed: 0, stroke: 0, settings: {}, smoothness: [], levels: null, masks: new Map(),
  pointers: new Map(), cursor: null, pen: null, space: false, times: new Map(), began: false,
  follows: false,
};
window.submin = { state, picture }; // for tests and for the curious

// ---- Messages from the desk.

const on = {
  hello({ gallery, smoothness }) {
    state.smoothness = smoothness;
    $("smooth").max = smoothness.length - 1;
    fillSamples(gallery.filter((name) => name !== "photograph"));
    showSmoothness();
    if (state.source) resume();
    else if (gallery.includes("photograph")) open({ sample: "photograph" });
  },
  photo({ name, width, height, factor }, data) {
    picture.open(width, height, data);
    state.began = true;
    $("start").hidden = true;
    $("canvas").setAttribute("aria-label", `${name}, ${width} by ${height} pixels`);
    document.title = `${name} – submin paint`;
    $("radius").value = Math.max(3, Math.round(Math.min(width, height) / 50));
    showRadius();
    nothing();
    note("");
    for (const id of ["undo", "redo"]) $(id).disabled = true;
    forget();
    for (const id of ["more", "smooth"]) $(id).disabled = false;
    if (state.restore) {
      const { labels, box, settings, lesson } = state.restore;
      state.restore = null;
      const data = new Uint8Array(labels.length + (lesson?.length ?? 0));
      data.set(labels);
      if (lesson) data.set(lesson, labels.length);
      ask({ do: "restore", box, settings }, data);
    } else {
      state.settings = {};
      state.lesson = null;
      $("more").value = 0;
      $("smooth").value = state.smoothness.indexOf(50);
      for (const [id, value] of [["superpixels", 0], ["connectivity", 8], ["components", 5]]) $(id).value = value;
      $("learn").checked = true;
      showSliders();
      hint("Paint over some of the object, or draw a box around it (R)");
    }
    if (factor > 1) note(`The photograph is large: it is worked on at ${width} × ${height} pixels, 1/${factor} of its width.`);
    say(`${name} is open.`);
    $("canvas").focus({ preventScroll: true });
  },
  labels({ serial, x, y, width, height, box, undo, redo }, data) {
    picture.patch(x, y, width, height, data);
    picture.box = box;
    if (!state.pen && serial >= state.serial) picture.stroke = null;
    $("undo").disabled = !undo;
    $("redo").disabled = !redo;
    state.waiting = false;
    forget();
    picture.draw();
  },
  mask({ serial, count, finished, more, smoothness }, data) {
    if (more !== Number($("more").value) && state.levels) return; // the slider has moved on
    show(unpacked(data), count);
    picture.draw(() => measured(serial));
    badge("busy", finished ? "Proving" : "Solving");
    $("stop").hidden = finished;
    for (const button of document.querySelectorAll("[data-save]")) button.disabled = false;
    $("refit").disabled = false;
    if (picture.labels.indexOf(BACKGROUND) < 0 && !picture.box)
      hint("Where the mask takes too much, paint the background (B)");
    else hint("");
  },
  proof({ serial, value, bound, gap, proved, finished, lesson }) {
    if (serial < state.changed) return; // something has changed since
    state.follows = lesson; // colours are learned next, and a new mask follows
    $("value").textContent = number(value);
    $("bound").textContent = number(bound);
    $("gap").textContent = gap === 0 ? "0" : gap.toPrecision(3);
    $("stop").hidden = finished;
    if (proved) badge("proved", "Proved optimal");
    else if (finished) badge("stopped", "Stopped: best so far");
    else badge("busy", "Solving");
    if (proved) say(`Proved optimal. ${$("count").textContent} are object.`);
    else if (finished) say(`Stopped. The gap is ${$("gap").textContent}.`);
  },
  empty() {
    state.lesson = null;
    picture.setMask(null);
    nothing();
    say("No mask.");
    if (Number($("more").value)) {
      $("more").value = 0;
      showSliders();
      set({ more: 0 });
    }
    hint("Paint over some of the object, or draw a box around it (R)");
  },
  levels(_, data) {
    state.levels = data.slice();
    ready();
  },
  smoothness({ value }, data) {
    state.masks.set(value, data.slice());
    ready();
  },
  work({ what, text }) {
    state.work = { ...state.work, [what]: text };
    const shown = state.work.open || state.work.lesson || state.work.ahead;
    $("work").hidden = !shown;
    $("work-text").textContent = shown || "";
    if (what === "lesson") {
      if (text) $("stop").hidden = false;
      else forget();
      if (text && !picture.mask) badge("busy", text);
    }
    if (what === "open" && text) $("start").classList.add("busy");
  },
  lesson(_, data) {
    state.lesson = data.slice();
  },
  note: ({ text }) => note(text),
  error({ text }) {
    state.follows = false;
    error(text);
  },
  file({ name, type }, data) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([data], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    say(`${name} is saved.`);
  },
};

const wire = new Wire(
  (head, data) => on[head.kind]?.(head, data),
  (now, code) => {
    document.body.dataset.wire = now;
    $("away").hidden = now === "here" || code === 1000;
    if (now === "away" && code === 1009) error("The file is too large for submin.");
    if (now === "away") badge("none", "Not connected");
  },
);

function ask(head, data) {
  state.serial += 1;
  if (!wire.send({ ...head, serial: state.serial }, data)) return false;
  if (!UNCHANGED.has(head.do)) {
    state.changed = state.serial;
    if (picture.mask) badge("busy", "Solving");
  }
  return state.serial;
}

// Give a desk that is new the photograph, the strokes and the settings that this page has.
function resume() {
  if (picture.photo)
    state.restore = { labels: picture.labels, box: picture.box, settings: state.settings, lesson: state.lesson };
  send(state.source);
}

// ---- Opening.

function open(source) {
  state.source = source;
  state.restore = null;
  send(source);
}

function send({ sample, name, data }) {
  if (sample) ask({ do: "open", sample });
  else ask({ do: "open", name }, data);
}

async function openFile(file) {
  if (!file) return;
  if (file.size > MOST_BYTES) return error(`${file.name} has ${Math.ceil(file.size / 2 ** 20)} MB, and 64 are the most.`);
  open({ name: file.name || "pasted", data: await file.arrayBuffer() });
}

function fillSamples(names) {
  $("sample").replaceChildren(new Option("choose", ""), ...names.map((name) => new Option(name, name)));
  $("samples").replaceChildren(...names.map((name) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.dataset.sample = name;
    button.onclick = () => open({ sample: name });
    return button;
  }));
}

$("open").onclick = $("choose").onclick = () => $("file").click();
$("file").onchange = () => {
  openFile($("file").files[0]);
  $("file").value = "";
};
$("sample").onchange = () => {
  if ($("sample").value) open({ sample: $("sample").value });
  $("sample").value = "";
};
window.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.querySelector(".stage").classList.add("over");
});
window.addEventListener("dragleave", () => document.querySelector(".stage").classList.remove("over"));
window.addEventListener("drop", (event) => {
  event.preventDefault();
  document.querySelector(".stage").classList.remove("over");
  openFile(event.dataTransfer.files[0]);
});
window.addEventListener("paste", (event) => openFile(event.clipboardData.files[0]));

// ---- Showing.

function nothing() {
  badge("none", "No mask yet");
  for (const id of ["value", "bound", "gap", "count"]) $(id).textContent = "–";
  for (const button of document.querySelectorAll("[data-save]")) button.disabled = true;
  $("refit").disabled = true;
  $("stop").hidden = true;
}

function show(mask, count) {
  picture.setMask(mask);
  const share = (100 * count) / mask.length;
  $("count").textContent = `${number(count)}\u00a0px, ${share.toFixed(1)}\u00a0%`;
}

function unpacked(bits) {
  const mask = new Uint8Array(picture.width * picture.height);
  for (let i = 0; i < mask.length; i++) mask[i] = (bits[i >> 3] >> (7 - (i & 7))) & 1;
  return mask;
}

const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 3 });

function badge(kind, text) {
  $("badge").dataset.state = kind;
  $("badge-text").textContent = text;
}

function hint(text) {
  $("hint").hidden = !text;
  $("hint").textContent = text;
}

function note(text) {
  $("note").hidden = !text;
  $("note").textContent = text;
  if (text) say(text);
}

let errorTimer;
function error(text) {
  hint("");
  $("error").hidden = false;
  $("error").textContent = text;
  clearTimeout(errorTimer);
  errorTimer = setTimeout(() => ($("error").hidden = true), 12000);
}
$("error").onclick = () => ($("error").hidden = true);

function say(text) {
  $("live").textContent = text;
}

// ---- Sliders.  What was computed ahead is shown at once; the desk then proves it.

function forget() {
  state.levels = null;
  state.masks.clear();
  ready();
}

function ready() {
  $("ready").hidden = !(state.levels && state.masks.size === state.smoothness.length - 1);
  $("more").dataset.ready = state.levels ? "yes" : "no";
  $("smooth").dataset.ready = $("ready").hidden ? "no" : "yes";
}

function showSliders() {
  const value = Number($("more").value);
  $("more-shown").textContent = value > 0 ? `+${value}` : String(value).replace("-", "−");
  showSmoothness();
}

function showSmoothness() {
  $("smooth-shown").textContent = state.smoothness[$("smooth").value] ?? "";
}

$("more").oninput = (event) => {
  const began = event.timeStamp;
  showSliders();
  if (!picture.mask) return;
  const value = Number($("more").value);
  if (!state.levels) return set({ more: value });
  const mask = new Uint8Array(state.levels.length);
  let count = 0;
  for (let i = 0; i < mask.length; i++) count += mask[i] = state.levels[i] <= value + LEVELS ? 1 : 0;
  show(mask, count);
  badge("busy", "Exact");
  picture.draw(() => performance.measure("slider", { start: began, end: performance.now() }));
};
$("more").onchange = () => {
  state.masks.clear();
  set({ more: Number($("more").value) });
};
$("smooth").oninput = (event) => {
  const began = event.timeStamp;
  showSliders();
  if (!picture.mask) return;
  const bits = state.masks.get(state.smoothness[$("smooth").value]);
  if (!bits) return;
  const mask = unpacked(bits);
  show(mask, mask.reduce((sum, value) => sum + value, 0));
  badge("busy", "Exact");
  picture.draw(() => performance.measure("slider", { start: began, end: performance.now() }));
};
$("smooth").onchange = () => {
  forget();
  set({ smoothness: state.smoothness[$("smooth").value] });
};

function set(settings) {
  Object.assign(state.settings, settings);
  ask({ do: "set", settings });
}

for (const id of ["superpixels", "connectivity", "components"])
  $(id).onchange = () => {
    forget();
    set({ [id]: Number($(id).value) });
  };
$("learn").onchange = () => set({ learn: $("learn").checked });
$("show").onchange = () => {
  picture.showStrokes = $("show").checked;
  picture.compose();
};
$("refit").onclick = () => ask({ do: "refit" });
$("stop").onclick = () => ask({ do: "stop" });
$("undo").onclick = () => ask({ do: "undo" });
$("redo").onclick = () => ask({ do: "redo" });
$("clear").onclick = () => ask({ do: "clear" });
for (const button of document.querySelectorAll("[data-save]"))
  button.onclick = () => {
    ask({ do: "save", what: button.dataset.save });
    $("save").open = false;
  };
document.addEventListener("pointerdown", (event) => {
  if (!$("save").contains(event.target)) $("save").open = false;
});

// ---- Tools.

const tool = () => document.querySelector("input[name=tool]:checked").value;
const radius = () => Number($("radius").value);

function choose(name) {
  document.querySelector(`input[name=tool][value=${name}]`).checked = true;
  toolChanged();
}
function toolChanged() {
  $("canvas").className = tool() === "pan" ? "grab" : tool() === "box" ? "" : "none";
  brush(state.cursor);
}
$("tools").addEventListener("change", toolChanged);
$("radius").oninput = showRadius;
function showRadius() {
  $("radius-shown").textContent = radius();
  brush(state.cursor);
}
function resizeBrush(steps) {
  const now = radius();
  $("radius").value = Math.round(now + steps * Math.max(1, now * 0.12));
  showRadius();
}

function brush(place, cross = state.cross) {
  state.cursor = place;
  state.cross = cross;
  const painting = tool() in LABEL;
  picture.brush = place && (painting || cross)
    ? { x: place[0], y: place[1], radius: painting ? radius() : 4 / picture.scale, label: LABEL[tool()] ?? UNMARKED, cross }
    : null;
  picture.draw();
}

function setView(name) {
  document.querySelector(`input[name=view][value=${name}]`).checked = true;
  picture.setView(name);
}
$("views").addEventListener("change", (event) => picture.setView(event.target.value));
$("zoom-in").onclick = () => picture.zoom(1.3);
$("zoom-out").onclick = () => picture.zoom(1 / 1.3);
$("zoom-fit").onclick = () => picture.fit();
picture.onZoom = (scale) => ($("zoom-shown").textContent = `${Math.round(100 * scale)} %`);

// ---- Strokes: sent in pieces while they are drawn, so that the mask follows.

function beginStroke(place, when) {
  if (!picture.photo || !wire.open) return;
  note("");
  state.stroke += 1;
  const pen = { points: [place], sent: 0, label: LABEL[tool()], radius: radius(), when };
  state.pen = picture.stroke = pen;
  state.lastPiece = performance.now();
  picture.draw();
}

function goOn(places) {
  const { pen } = state;
  for (const place of places) {
    const [x, y] = pen.points.at(-1);
    if (Math.hypot(place[0] - x, place[1] - y) > 0.4) pen.points.push(place);
  }
  if (performance.now() - state.lastPiece > PIECE && !state.waiting && pen.points.length > pen.sent) piece(false);
  picture.draw();
}

function piece(last) {
  const { pen } = state;
  const points = pen.points.slice(Math.max(0, pen.sent - 1));
  pen.sent = pen.points.length;
  state.waiting = true;
  state.lastPiece = performance.now();
  return ask({ do: "stroke", stroke: state.stroke, label: pen.label, radius: pen.radius, points, last });
}

function endStroke(when) {
  if (!state.pen) return;
  const serial = piece(true);
  state.pen = null;
  if (serial) state.times.set(serial, when);
}

function dropStroke() {
  const sent = state.pen && state.pen.sent > 0;
  state.pen = picture.stroke = picture.drawnBox = null;
  state.corner = null;
  if (sent) ask({ do: "undo" });
  picture.draw();
}

// A mask that answers a stroke is on the screen.
function measured(serial) {
  const now = performance.now();
  for (const [own, began] of state.times)
    if (own <= serial) {
      state.times.delete(own);
      performance.measure("stroke", { start: began, end: now, detail: own });
    }
}

function endBox() {
  const box = picture.drawnBox;
  picture.drawnBox = state.corner = null;
  if (box && Math.abs(box[2] - box[0]) > 1 && Math.abs(box[3] - box[1]) > 1) ask({ do: "box", box });
  picture.draw();
}

// ---- Pointers: one paints, two move and zoom.

const canvas = $("canvas");
canvas.addEventListener("pointerdown", (event) => {
  if (!picture.photo) return;
  canvas.setPointerCapture(event.pointerId);
  state.pointers.set(event.pointerId, event);
  state.cross = false;
  if (state.pointers.size === 2) {
    dropStroke();
    state.panning = true;
    return;
  }
  if (state.pointers.size > 2) return;
  if (event.button === 1 || state.space || tool() === "pan") {
    state.panning = true;
    canvas.classList.add("grabbing");
  } else if (event.button === 0) {
    if (tool() === "box") state.corner = picture.place(event);
    else beginStroke(picture.place(event), event.timeStamp);
  }
  event.preventDefault();
  canvas.focus({ preventScroll: true });
});
canvas.addEventListener("pointermove", (event) => {
  if (!picture.photo) return;
  const before = state.pointers.get(event.pointerId);
  if (before) state.pointers.set(event.pointerId, event);
  if (state.panning && before) moveView(event, before);
  else if (state.pen && before) {
    const events = event.getCoalescedEvents?.() ?? [];
    goOn((events.length ? events : [event]).map((one) => picture.place(one)));
  } else if (state.corner && before) {
    picture.drawnBox = [...state.corner, ...picture.place(event)];
  }
  if (event.pointerType !== "touch") brush(picture.place(event), false);
});
function moveView(event, before) {
  const others = [...state.pointers.values()].filter((one) => one.pointerId !== event.pointerId);
  if (!others.length) return picture.pan(event.clientX - before.clientX, event.clientY - before.clientY);
  const [other] = others;
  const far = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
  picture.pan((event.clientX - before.clientX) / 2, (event.clientY - before.clientY) / 2);
  const area = canvas.getBoundingClientRect();
  picture.zoom(far(event) / Math.max(1, far(before)),
    (event.clientX + other.clientX) / 2 - area.left, (event.clientY + other.clientY) / 2 - area.top);
}
function lift(event) {
  state.pointers.delete(event.pointerId);
  if (!state.pointers.size) state.panning = false;
  canvas.classList.remove("grabbing");
  if (event.type === "pointercancel") return dropStroke();
  if (state.pen) {
    goOn([picture.place(event)]);
    endStroke(event.timeStamp);
  } else if (state.corner) endBox();
}
canvas.addEventListener("pointerup", lift);
canvas.addEventListener("pointercancel", lift);
canvas.addEventListener("pointerleave", () => {
  if (!state.pen) brush(null);
});
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  if (!picture.photo) return;
  if (event.ctrlKey || event.metaKey) {
    const area = canvas.getBoundingClientRect();
    picture.zoom(Math.exp(-event.deltaY / 300), event.clientX - area.left, event.clientY - area.top);
  } else resizeBrush(event.deltaY < 0 ? 1 : -1);
}, { passive: false });
canvas.addEventListener("blur", () => {
  if (state.cross) brush(null, false);
});

// ---- Keys.

const TOOLS = { o: "object", b: "background", e: "erase", r: "box", h: "pan" };
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

document.addEventListener("keydown", (event) => {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if ((event.ctrlKey || event.metaKey) && (key === "z" || key === "y")) {
    event.preventDefault();
    ask({ do: key === "y" || event.shiftKey ? "redo" : "undo" });
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(select|textarea)$/i.test(event.target.tagName)) return;
  if (key === "Escape") escape();
  else if (key in TOOLS) choose(TOOLS[key]);
  else if (key === "[") resizeBrush(-1);
  else if (key === "]") resizeBrush(1);
  else if (key === "+" || key === "=") picture.zoom(1.3);
  else if (key === "-") picture.zoom(1 / 1.3);
  else if (key === "0" && picture.photo) picture.fit();
  else if (key === "v") nextView();
  else if (event.target === canvas && picture.photo) onCanvasKey(event, key);
});
document.addEventListener("keyup", (event) => {
  if (event.key === " ") state.space = false;
});

function onCanvasKey(event, key) {
  if (key === " ") state.space = true;
  else if (key in ARROWS) moveBrush(ARROWS[key], event.shiftKey);
  else if (key === "Enter" && !event.repeat) pressPen(event.timeStamp);
  else return;
  event.preventDefault();
}

function moveBrush([dx, dy], fine) {
  const step = fine ? 1 : Math.max(2, radius() / 2);
  const [x, y] = state.cursor ?? [picture.width / 2, picture.height / 2];
  const place = [Math.min(picture.width - 0.5, Math.max(0.5, x + step * dx)),
    Math.min(picture.height - 0.5, Math.max(0.5, y + step * dy))];
  if (state.pen) goOn([place]);
  if (state.corner) picture.drawnBox = [...state.corner, ...place];
  brush(place, true);
  say(`${Math.round(place[0])}, ${Math.round(place[1])}`);
}

function pressPen(when) {
  const place = state.cursor ?? [picture.width / 2, picture.height / 2];
  if (state.corner) endBox();
  else if (tool() === "box") state.corner = place;
  else if (state.pen) endStroke(when);
  else if (tool() in LABEL) beginStroke(place, when);
  brush(place, true);
}

function escape() {
  if (state.pen || state.corner) dropStroke();
  else if (!$("stop").hidden) ask({ do: "stop" });
  $("save").open = false;
}

function nextView() {
  const names = ["outline", "overlay", "cutout"];
  setView(names[(names.indexOf(picture.view) + 1) % names.length]);
}

toolChanged();
