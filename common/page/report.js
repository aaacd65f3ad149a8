"use strict";
// Draws the charts of a page from the data in it, and lets readers zoom, hide curves and sort tables.
//
// data.tables   each { columns: [{ name, title, unit, key }], rows: [[value]] }; key: rows with the same keys are alike
// data.charts   a chart of a table, as page_charts in page.h says; or { type, ... }, as Timeline and Overview say

const data = JSON.parse(document.getElementById("data").textContent);

const svg = (name, attributes = {}, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  element.append(...children);
  return element;
};
const html = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
};

// ---- Values as people read them

// With as many digits as tell it from another value that is a step away.
const numberText = (value, step = 0) => {
  const digits = step > 0 ? Math.min(15, Math.max(4, Math.ceil(Math.log10(Math.abs(value) / step)) + 1)) : 4;
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size >= 1e15 || size < 1e-4) return String(Number(value.toPrecision(digits)));
  return size >= 999.95 && digits === 4 ? Math.round(value).toLocaleString("en").replaceAll(",", "\u202f")
    : String(Number(value.toPrecision(digits)));
};

// step: how far the next value that has to look different is away.
const valueText = (value, unit, step = 0) => {
  if (value === 0) return unit === "ns" || unit === "bytes" || unit === "" ? "0" : "0 " + unit;
  if (unit === "ns") {
    const steps = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
    const [size, name] = steps.find((one) => Math.abs(value) >= one[0] * 0.9995) || steps[3];
    return numberText(value / size, step / size) + " " + name;
  }
  if (unit === "bytes") {
    let power = 0, rest = value;
    for (; power < 4 && rest >= 1024 && rest % 128 === 0; power++) rest /= 1024;
    return (power ? numberText(rest) : String(value)) + ["", " KiB", " MiB", " GiB", " TiB"][power];
  }
  return numberText(value, step) + (unit ? " " + unit : "");
};

// ---- Axes

const transforms = {
  linear: [(v) => v, (v) => v],
  log: [Math.log10, (v) => 10 ** v],
  log2: [Math.log2, (v) => 2 ** v],
};

// 1, 2 or 5 times a power of ten, so that there are at most so many steps.
const niceStep = (span, count) => {
  const least = 10 ** Math.floor(Math.log10(span / count));
  return least * [1, 2, 5, 10].find((step) => step * least >= span / count * 0.9999);
};

// A scale of values: where each is, from 0 to 1 on the part that is seen, and ticks. What is asked for is changed to a
// linear scale where the values are too close together, or not above 0.
class Axis {
  constructor(scale, unit, values, resolution = 0) {
    const finite = values.filter((v) => v === 0 || (Math.abs(v) >= 1e-100 && Math.abs(v) <= 1e100));
    let [min, max, positive] = [Infinity, -Infinity, Infinity]; // Math.min takes no million arguments
    for (const v of finite) {
      min = Math.min(min, v);
      max = Math.max(max, v);
      positive = v > 0 ? Math.min(positive, Math.max(v, resolution)) : positive;
    }
    const isLog = scale !== "linear" && min >= 0 && positive < Infinity && (scale === "log2" || max >= 3 * positive);
    this.unit = unit;
    this.resolution = resolution;
    this.scale = isLog ? scale : "linear";
    if (isLog) {
      const margin = scale === "log2" ? 1.3 : (max / positive) ** 0.04;
      this.zero = min > 0 ? 0 : positive / (scale === "log2" ? 2 : 3);
      min = (this.zero || positive) / margin;
      max *= margin;
    } else {
      let span = max - min || Math.abs(max) / 5 || 1;
      if (min >= 0 && min < max / 2) [min, span] = [0, max];
      const step = niceStep(span * 1.1, 6);
      min = min === 0 ? 0 : Math.floor((min - span * 0.05) / step) * step;
      max = Math.ceil((max + span * 0.05) / step) * step;
    }
    [this.to, this.back] = transforms[this.scale];
    this.whole = [this.to(min), this.to(max)];
    this.seen = this.whole;
  }

  // A value below what can be told is drawn at the limit.
  drawn(value) {
    return this.resolution > 0 && value >= 0 && value < this.resolution ? this.resolution : value;
  }

  place(value) {
    const at = this.scale !== "linear" && value <= 0 ? this.zero : this.drawn(value);
    return (this.to(at) - this.seen[0]) / (this.seen[1] - this.seen[0]);
  }

  // [from, to] in parts of what is seen.
  zoom(from, to) {
    const [low, high] = this.seen, span = high - low, full = this.whole[1] - this.whole[0];
    const size = Math.min(full, Math.max((to - from) * span, full * 1e-6));
    const start = Math.min(Math.max(this.whole[0], low + from * span), this.whole[1] - size);
    this.seen = [start, start + size];
  }

  get isWhole() { return this.seen[1] - this.seen[0] >= (this.whole[1] - this.whole[0]) * (1 - 1e-9); }

  // { value, text } by what is seen and by how many labels there is room for; without a text where there is no label.
  ticks(room) {
    const [from, to] = this.seen, span = to - from, ticks = [];
    const count = Math.max(2, Math.min(8, Math.floor(room)));
    const add = (value, text) => {
      const place = this.place(value);
      if (place > -1e-9 && place < 1 + 1e-9 && !(value > 0 && this.zero && value < this.zero * 1.5))
        ticks.push({ value, text });
    };
    if (this.zero) add(0, "0");
    if (this.scale === "linear" || span < (this.scale === "log" ? 0.8 : 1)) {
      const low = this.back(from), high = this.back(to), step = niceStep(high - low, count);
      const first = Math.ceil(low / step);
      for (let i = 0; i < 64 && (first + i) * step <= high * (1 + 1e-12); i++) {
        const value = (first + i) * step;
        if (value !== 0 || !this.zero) add(value, valueText(value, this.unit, step));
      }
      return ticks;
    }
    const step = Math.max(1, Math.ceil(span / count));
    const digits = this.scale === "log" && span < 2.5 && count > 4 ? [1, 2, 5] : [1];
    for (let i = Math.floor(from); i <= to; i++)
      for (let digit = 1; digit < (this.scale === "log" ? 10 : 2); digit++) {
        const isLabeled = digits.includes(digit) && i % step === 0;
        if (isLabeled || (this.scale === "log" && span < 4))
          add(digit * this.back(i), isLabeled ? valueText(digit * this.back(i), this.unit) : undefined);
      }
    return ticks;
  }
}

// ---- What charts have in common: a frame, axes, zoom, tips, a legend

const isOfTrace = data.charts.some((spec) => spec.type === "overview" || spec.type === "timeline");
// The other colors are those of states in the overview of a trace.
const palette = isOfTrace ? [2, 3, 4, 5, 6, 8, 9] : [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

// A color is one thing on the whole page, as far as there are colors: in a trace, a function, whose call sites differ
// in dashes and marks.
const things = new Map();
const lookOf = (name) => {
  const thing = isOfTrace ? name.replace(/^site \d+: /, "").replace(/^rank \d+$/, "rank") : name;
  if (!things.has(thing)) things.set(thing, { number: things.size, names: [] });
  const { number, names } = things.get(thing);
  if (!names.includes(name)) names.push(name);
  const place = names.indexOf(name), round = Math.floor(number / palette.length);
  return { color: palette[number % palette.length], dash: (round + place) % 4, mark: (number + place) % 5 };
};
const classOf = (look) => `c${look.color} d${look.dash}`;
const markPath = (look) => ["M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "M-3.6-3.6h7.2v7.2h-7.2z", "M0-5L4.6 3.4H-4.6z",
  "M0-5L5 0L0 5L-5 0z", "M0 5L4.6-3.4H-4.6z"][look.mark];

class Figure {
  constructor(title) {
    const id = `figure-${++Figure.count}`;
    this.picture = svg("svg", { class: "chart", role: "img", "aria-labelledby": id, tabindex: 0 });
    this.tip = html("div", { className: "tip", hidden: true });
    this.resetButton = html("button", { className: "reset", type: "button", textContent: "reset zoom", hidden: true });
    this.resetButton.onclick = () => this.reset();
    this.legend = html("ul", { className: "legend" });
    this.element = html("figure", { className: "chart" }, html("figcaption", { id, textContent: title }), this.picture,
      this.legend, this.tip, this.resetButton);
    this.hidden = new Set();
    this.clip = `clip-${id}`;
  }

  begin(left, height, bottom = 48) {
    this.width = Math.max(300, Math.round(this.element.clientWidth) || 640);
    this.height = height;
    this.box = { left, right: this.width - 32, top: 12, bottom: height - bottom };
    const { right, top } = this.box;
    this.picture.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.picture.replaceChildren(svg("clipPath", { id: this.clip },
      svg("rect", { x: left - 5, y: top - 5, width: right - left + 10, height: this.box.bottom - top + 10 })));
    this.spots = [];
  }

  px(part) { return this.box.left + part * (this.box.right - this.box.left); }
  py(part) { return this.box.bottom - part * (this.box.bottom - this.box.top); }

  drawX(axis, title) {
    const { top, bottom, left, right } = this.box;
    for (const { value, text } of axis.ticks((right - left) / 75)) {
      const x = this.px(axis.place(value));
      this.picture.append(svg("path", { class: text ? "tick" : "tick minor", d: `M${x} ${top}V${bottom}` }));
      if (text) this.picture.append(svg("text", { x, y: bottom + 18, "text-anchor": "middle" }, text));
    }
    const middle = (left + right) / 2;
    this.picture.append(svg("text", { class: "title", x: middle, y: this.height - 8, "text-anchor": "middle" }, title));
  }

  drawY(axis, title) {
    const { top, bottom, left, right } = this.box, middle = (top + bottom) / 2;
    for (const { value, text } of axis.ticks((bottom - top) / 36)) {
      const y = this.py(axis.place(value));
      this.picture.append(svg("path", { class: text ? "tick" : "tick minor", d: `M${left} ${y}H${right}` }));
      if (text) this.picture.append(svg("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, text));
    }
    this.picture.append(svg("text", { class: "title", transform: `translate(14 ${middle}) rotate(-90)`,
      "text-anchor": "middle" }, title));
  }

  drawFrame() {
    const { top, bottom, left, right } = this.box;
    this.picture.append(svg("path", { class: "frame", d: `M${left} ${top}V${bottom}H${right}` }));
  }

  useTime(from, to) {
    this.axes = [new Axis("linear", "ns", [from, to])];
    this.axes[0].whole = this.axes[0].seen = [from, to];
  }

  // The names of lanes over time, as far as there is room for them.
  drawLanes(names, height) {
    const { left, top, bottom } = this.box, each = Math.ceil(16 / height);
    this.drawX(this.axes[0], this.spec.xTitle);
    this.drawFrame();
    names.forEach((name, i) => i % each || this.picture.append(
      svg("text", { x: left - 8, y: top + (i + 0.5) * height + 4, "text-anchor": "end" }, name)));
    this.picture.append(svg("text", { class: "title", transform: `translate(16 ${(top + bottom) / 2}) rotate(-90)`,
      "text-anchor": "middle" }, this.spec.laneTitle));
  }

  // Of what a legend names; figures whose names have colors of their own say which.
  colorOf() { return ""; }

  // A click on a name hides what it stands for, and shows it again.
  drawLegend(names, key) {
    const items = names.map((name, number) => {
      const picture = svg("svg", { class: "key", viewBox: "0 0 28 12" }, ...key(number));
      const button = html("button", { type: "button" }, picture, " ", name);
      button.setAttribute("aria-pressed", String(!this.hidden.has(name)));
      button.onclick = () => {
        if (!this.hidden.delete(name)) this.hidden.add(name);
        this.draw();
      };
      return html("li", { className: this.colorOf(number) }, button);
    });
    this.legend.replaceChildren(...items);
  }

  reset() {
    for (const axis of this.axes) axis.seen = axis.whole;
    this.draw();
  }

  // x and y are [from, to] in parts of what is seen.
  zoom(x, y) {
    this.axes[0].zoom(...x);
    if (this.axes[1]) this.axes[1].zoom(...y);
    this.draw();
  }

  finish() {
    this.resetButton.hidden = this.axes.every((axis) => axis.isWhole);
    this.tip.hidden = true;
  }

  locate(event) {
    const { left, right, top, bottom } = this.box;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.picture.getScreenCTM().inverse());
    return { x: at.x, y: at.y, px: (at.x - left) / (right - left), py: (bottom - at.y) / (bottom - top) };
  }

  // What is near the pointer: { x, y, text, node }.
  find(at) {
    let near = null, least = 30;
    for (const spot of this.spots) {
      const distance = Math.hypot(spot.x - at.x, spot.y - at.y);
      if (distance < least) [near, least] = [spot, distance];
    }
    return near;
  }

  tell(near) {
    if (this.near) this.near.node.classList.remove("near");
    this.near = near;
    this.tip.hidden = !near;
    if (!near) return;
    near.node.classList.add("near");
    this.tip.textContent = near.text;
    const frame = this.element.getBoundingClientRect();
    const screen = new DOMPoint(near.x, near.y).matrixTransform(this.picture.getScreenCTM());
    const x = screen.x - frame.left, y = screen.y - frame.top, { offsetWidth, offsetHeight } = this.tip;
    this.tip.style.left = `${Math.max(0, x + 14 + offsetWidth > frame.width ? x - 14 - offsetWidth : x + 14)}px`;
    this.tip.style.top = `${Math.max(0, y - offsetHeight - 8)}px`;
  }

  scale(factor, px = 0.5, py = 0.5) {
    this.zoom([px - px * factor, px + (1 - px) * factor], [py - py * factor, py + (1 - py) * factor]);
  }

  drag(at) {
    const rising = (a, b) => a - b, { top, bottom } = this.box;
    const [x0, x1] = [this.start.x, at.x].sort(rising);
    const [y0, y1] = this.axes.length < 2 ? [top, bottom] : [this.start.y, at.y].sort(rising);
    if (!this.mark) this.mark = this.picture.appendChild(svg("rect", { class: "box" }));
    const attributes = { x: x0, y: y0, width: x1 - x0, height: y1 - y0 };
    for (const key in attributes) this.mark.setAttribute(key, attributes[key]);
  }

  drop(at) {
    const start = this.start, rising = (a, b) => a - b;
    if (this.mark) this.mark.remove();
    this.start = this.mark = null;
    if (start && Math.hypot(at.x - start.x, at.y - start.y) >= 8)
      this.zoom([start.px, at.px].sort(rising), [start.py, at.py].sort(rising));
  }

  listen() {
    const picture = this.picture;
    picture.addEventListener("pointermove", (event) => {
      const at = this.locate(event);
      if (this.start) this.drag(at);
      else this.tell(this.find(at, event));
    });
    picture.addEventListener("pointerleave", () => this.start || this.tell(null));
    picture.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch" || event.target.closest("a")) return;
      picture.setPointerCapture(event.pointerId);
      this.start = this.locate(event);
    });
    picture.addEventListener("pointerup", (event) => this.drop(this.locate(event)));
    picture.addEventListener("pointercancel", () => this.drop(this.start));
    picture.addEventListener("dblclick", () => this.reset());
    picture.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== picture) return;
      event.preventDefault();
      const at = this.locate(event);
      this.scale(event.deltaY > 0 ? 1.25 : 0.8, at.px, at.py);
    }, { passive: false });
    const move = (dx, dy) => this.zoom([dx, 1 + dx], [dy, 1 + dy]);
    const keys = {
      "+": () => this.scale(0.8), "=": () => this.scale(0.8), "-": () => this.scale(1.25), 0: () => this.reset(),
      ArrowLeft: () => move(-0.2, 0), ArrowRight: () => move(0.2, 0), ArrowUp: () => move(0, 0.2),
      ArrowDown: () => move(0, -0.2),
    };
    picture.addEventListener("keydown", (event) => {
      if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    // In the next frame, as drawing may change the width again: of a page that gets a bar to be scrolled by.
    let width = 0;
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (this.element.clientWidth === width) return;
      width = this.element.clientWidth;
      this.draw();
    })).observe(this.element);
  }
}
Figure.count = 0;

// ---- Charts of tables

// A table of which rows are read by the names of columns.
class Table {
  constructor({ columns, rows }) {
    this.columns = columns;
    this.places = new Map(columns.map((column, place) => [column.name, place]));
    this.rows = rows;
    this.numbers = new Map(rows.map((row, number) => [row, number]));
  }

  get(row, name) { return row[this.places.get(name)] ?? null; }
  number(row, name) {
    const value = name && this.get(row, name), size = Math.abs(value);
    return typeof value === "number" && (size === 0 || (size > 1e-100 && size < 1e100)) ? value : null;
  }
  column(name) { return this.columns[this.places.get(name)]; }
  part(rows) { return Object.assign(Object.create(Table.prototype), this, { rows }); }
  values(name) { return new Set(this.rows.map((row) => this.get(row, name))); }

  // The fewest keys, in their order, by which rows are told apart as by all but these.
  keys(without) {
    const chosen = [];
    let groups = 1;
    for (const { name, key } of this.columns) {
      if (!key || without.includes(name)) continue;
      const count = new Set(this.rows.map((row) => this.label(row, [...chosen, name]))).size;
      if (count > groups) [groups] = [count, chosen.push(name)];
    }
    return chosen;
  }

  label(row, names) {
    return names.filter((name) => this.get(row, name) !== null).map((name) => {
      const value = this.get(row, name), column = this.column(name);
      if (typeof value === "string") return value;
      const text = valueText(value, column.unit, 1e-9);
      if (!column.unit) return `${column.title} ${text}`;
      return column.unit === "bytes" && value < 1024 ? text + " B" : text;
    }).join(", ");
  }
}

class Chart extends Figure {
  // series: { name, points: [{ x or strip, y, low, high, note, singles }] }
  constructor(spec, table, panel) {
    super(panel ? `${spec.title}: ${panel}` : spec.title);
    this.spec = spec;
    this.hasCurves = Boolean(spec.x) && (spec.isCurve || table.values(spec.x).size > 1);
    this.series = new Map();
    this.strips = [];
    const keys = table.keys([spec.panel, spec.ignored, this.hasCurves && spec.x]);
    for (const row of table.rows) for (const measure of spec.measures) this.addPoint(table, row, measure, keys);
    const all = [...this.series.values()].flatMap((one) => one.points);
    this.isEmpty = all.length === 0;
    if (this.isEmpty) return;
    for (const { points } of this.series.values()) {
      points.sort((a, b) => a.x - b.x);
      const [{ y }] = points;
      if (spec.isRelative) for (const point of points) point.y -= y;
    }
    const values = all.flatMap((p) => [p.y, p.low, p.high, ...p.singles]).filter((v) => v !== null);
    if (spec.reference) values.push(spec.reference);
    const unit = table.column(spec.measures[0].column).unit;
    this.valueAxis = new Axis(spec.scale || "linear", unit, values, unit === "ns" ? spec.resolution : 0);
    this.isLimited = values.some((value) => value < this.valueAxis.resolution);
    if (this.hasCurves)
      this.axes = [new Axis(spec.xScale || "linear", table.column(spec.x).unit, all.map((p) => p.x)), this.valueAxis];
    else this.axes = [this.valueAxis];
  }

  addPoint(table, row, measure, keys) {
    const { spec } = this, label = table.label(row, keys) || (keys.length ? "none" : "");
    const y = table.places.has(measure.column) ? table.number(row, measure.column) : null;
    const x = this.hasCurves ? table.number(row, spec.x) : 0, several = spec.measures.length > 1;
    if (y === null || x === null) return;
    const title = several ? measure.title : "";
    const name = this.hasCurves ? [label, title].filter(Boolean).join(": ") : title;
    if (!this.hasCurves && !this.strips.includes(label)) this.strips.push(label);
    const singles = spec.singles ? spec.singles[table.numbers.get(row)] : [];
    const point = { x: this.hasCurves ? x : this.strips.indexOf(label), y, value: y,
      low: table.number(row, measure.low),
      high: table.number(row, measure.high), note: spec.note ? table.get(row, spec.note) : null, singles };
    if (!this.series.has(name)) this.series.set(name, { name, look: lookOf(name), points: [] });
    const { points } = this.series.get(name);
    if (!spec.ignored || !points.some((p) => p.x === point.x && p.y === point.y)) points.push(point);
  }

  draw() {
    if (this.hasCurves) {
      const height = 340, labels = this.valueAxis.ticks((height - 60) / 36).map(({ text }) => (text || "").length);
      this.begin(Math.max(76, 34 + 7.2 * Math.max(0, ...labels)), height);
      this.drawX(this.axes[0], this.spec.xTitle);
      this.drawY(this.valueAxis, this.valueTitle());
    } else {
      const widest = Math.max(0, ...this.strips.map((name) => name.length));
      const left = Math.min(24 + widest * 7.2, 0.42 * Math.max(300, this.element.clientWidth));
      this.begin(left, 64 + 30 * this.strips.length);
      this.drawX(this.valueAxis, this.valueTitle());
      this.drawStrips();
    }
    this.drawFrame();
    const inside = this.picture.appendChild(svg("g", { "clip-path": `url(#${this.clip})` }));
    if (this.spec.reference) this.drawReference(inside);
    const shown = [...this.series.values()].filter((one) => !this.hidden.has(one.name));
    for (const one of shown) this.drawSeries(inside, one);
    if (this.series.size > 1)
      this.drawLegend([...this.series.keys()], (number) => this.legendKey([...this.series.values()][number].look));
    this.finish();
  }

  valueTitle() {
    const { resolution } = this.valueAxis;
    return this.spec.valueTitle + (this.isLimited ? `; what is below ${valueText(resolution, "ns")} is not known` : "");
  }

  legendKey(look) {
    const curve = this.hasCurves ? [svg("path", { class: "curve", d: "M1 6H27" })] : [];
    return [svg("g", { class: classOf(look) }, ...curve,
      svg("path", { class: "point", d: markPath(look), transform: "translate(14 6)" }))];
  }

  drawStrips() {
    this.strips.forEach((name, strip) => {
      const y = this.stripY(strip), { left, right } = this.box, room = Math.floor((left - 16) / 6.8);
      this.picture.append(svg("path", { class: "tick", d: `M${left} ${y}H${right}` }),
        svg("text", { x: left - 8, y: y + 4, "text-anchor": "end" },
          name.length > room ? name.slice(0, room - 1) + "…" : name, svg("title", {}, name)));
    });
  }

  stripY(strip) { return this.box.top + (strip + 0.5) * (this.box.bottom - this.box.top) / this.strips.length; }

  at(point, value = point.y) {
    return this.hasCurves ? [this.px(this.axes[0].place(point.x)), this.py(this.valueAxis.place(value))]
      : [this.px(this.valueAxis.place(value)), this.stripY(point.x)];
  }

  drawReference(inside) {
    const [x, y] = this.at({ x: 0 }, this.spec.reference), { left, right, top, bottom } = this.box;
    const d = this.hasCurves ? `M${left} ${y}H${right}` : `M${x} ${top}V${bottom}`;
    inside.append(svg("path", { class: "reference", d }));
  }

  drawSeries(inside, { name, look, points }) {
    const group = inside.appendChild(svg("g", { class: `series ${classOf(look)}` +
      (this.spec.isCurve ? " dense" : "") }));
    const bounded = points.filter((p) => p.low !== null && p.high !== null);
    const hasBars = !this.hasCurves || this.spec.reference;
    const line = (list, value) => list.map((p) => this.at(p, value(p)).map((v) => v.toFixed(1)).join(" "));
    if (bounded.length && !hasBars)
      group.append(svg("path", { class: "band", d: "M" + [...line(bounded, (p) => p.low),
        ...line(bounded, (p) => p.high).reverse()].join("L") + "Z" }));
    for (const point of hasBars ? bounded : [])
      group.append(svg("path", { class: "bar", d: `M${line([point], (p) => p.low)}L${line([point], (p) => p.high)}` }));
    if (this.hasCurves && points.length > 1)
      group.append(svg("path", { class: "curve", d: "M" + line(points, (p) => p.y).join("L") }));
    for (const point of points) {
      for (const single of point.singles) {
        const [x, y] = this.at(point, single);
        group.append(svg("circle", { class: "single", cx: x, cy: y, r: 2.5 }));
      }
      const [x, y] = this.at(point);
      const node = svg("path", { class: "point", d: markPath(look), transform: `translate(${x} ${y})` });
      group.append(node);
      if (point.note) node.dataset.note = point.note;
      node.dataset.value = point.value;
      this.spots.push({ x, y, node, text: this.tipText(name, point) });
    }
  }

  tipText(name, point) {
    const { unit, resolution } = this.valueAxis;
    const isBelow = (v) => resolution > 0 && v >= 0 && v < resolution;
    const text = (v) => isBelow(v) ? `< ${valueText(resolution, unit)}` : valueText(v, unit);
    const place = this.hasCurves ? `${this.spec.xTitle}: ${valueText(point.x, this.axes[0].unit, 1e-9)}`
      : this.strips[point.x];
    const interval = point.low !== null && point.high !== null ? ` (${text(point.low)} to ${text(point.high)})` : "";
    return [name, place, `${this.spec.valueTitle}: ${text(point.y)}${interval}`, point.note].filter(Boolean).join("\n");
  }
}

// ---- Maps of what is between two things

// The value of each row as a color, at its places x and y, which are whole numbers from 0 on.
class HeatMap extends Figure {
  constructor(spec, table, name) {
    super(name ? `${spec.title}: ${name}` : spec.title);
    this.spec = spec;
    const [{ column }] = spec.measures;
    this.unit = table.column(column).unit;
    this.cells = table.rows.map((row) => ({ x: table.number(row, spec.x), y: table.number(row, spec.y),
      value: table.number(row, column) })).filter(({ x, y, value }) => x !== null && y !== null && value !== null);
    this.isEmpty = this.cells.length === 0;
    this.places = 1 + this.cells.reduce((most, { x, y }) => Math.max(most, x, y), 0);
    this.axes = [this.axisOfPlaces(), this.axisOfPlaces()];
    this.least = this.cells.reduce((least, { value }) => Math.min(least, value), Infinity);
    this.most = this.cells.reduce((most, { value }) => Math.max(most, value), -Infinity);
  }

  axisOfPlaces() {
    const axis = new Axis("linear", "", [0, this.places]);
    axis.whole = axis.seen = [-0.5, this.places - 0.5];
    return axis;
  }

  // From 0.1 to 1; of values that differ much, by their logarithms.
  depth(value) {
    const [to] = transforms[this.least > 0 && this.most >= 3 * this.least ? "log" : "linear"];
    const span = to(this.most) - to(this.least);
    return span > 0 ? 0.1 + 0.9 * (to(value) - to(this.least)) / span : 0.55;
  }

  draw() {
    const [xAxis, yAxis] = this.axes;
    this.begin(64, 400);
    const { left, right, top, bottom } = this.box;
    const inside = this.picture.appendChild(svg("g", { "clip-path": `url(#${this.clip})` }));
    const x = (place) => this.px(xAxis.place(place)), y = (place) => this.py(yAxis.place(place));
    for (const cell of this.cells) {
      const node = inside.appendChild(svg("rect", { class: "heat", x: x(cell.x - 0.5), y: y(cell.y + 0.5),
        width: x(cell.x + 0.5) - x(cell.x - 0.5), height: y(cell.y - 0.5) - y(cell.y + 0.5),
        "fill-opacity": this.depth(cell.value).toFixed(3) }));
      node.dataset.value = cell.value;
      node.tipText = `${this.spec.yTitle}: ${cell.y}\n${this.spec.xTitle}: ${cell.x}\n` +
        `${this.spec.valueTitle}: ${valueText(cell.value, this.unit)}`;
    }
    this.drawPlaces(x, y);
    this.drawFrame();
    this.picture.append(
      svg("text", { class: "title", x: (left + right) / 2, y: this.height - 8, "text-anchor": "middle" },
        this.spec.xTitle),
      svg("text", { class: "title", transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)`,
        "text-anchor": "middle" }, this.spec.yTitle));
    this.drawScale();
    this.finish();
  }

  // As many as there is room for.
  drawPlaces(x, y) {
    const { left, right, top, bottom } = this.box;
    const everyX = Math.ceil(30 / (x(1) - x(0))), everyY = Math.ceil(18 / (y(0) - y(1)));
    for (let place = 0; place < this.places; place++) {
      if (place % everyX === 0 && x(place) >= left && x(place) <= right)
        this.picture.append(svg("text", { x: x(place), y: bottom + 18, "text-anchor": "middle" }, String(place)));
      if (place % everyY === 0 && y(place) >= top && y(place) <= bottom)
        this.picture.append(svg("text", { x: left - 8, y: y(place) + 4, "text-anchor": "end" }, String(place)));
    }
  }

  drawScale() {
    this.legend.replaceChildren(...[...new Set([this.least, this.most])].map((value) => html("li", {},
      svg("svg", { class: "key", viewBox: "0 0 28 12" }, svg("rect", { class: "heat", x: 2, y: 1, width: 24,
        height: 10, "fill-opacity": this.depth(value).toFixed(3) })), " ", valueText(value, this.unit))));
  }

  find(at, event) {
    const node = event.target.closest(".heat");
    return node && { x: at.x, y: at.y, node, text: node.tipText };
  }
}

// A map for all rows that differ in their places alone.
const mapsOf = (spec, table) => {
  const part = table.part(table.rows.filter((row) => table.number(row, spec.measures[0].column) !== null));
  const keys = part.keys([spec.x, spec.y]), groups = new Map();
  for (const row of part.rows) {
    const name = part.label(row, keys);
    groups.set(name, [...(groups.get(name) || []), row]);
  }
  return [...groups].map(([name, rows]) => new HeatMap(spec, part.part(rows), name)).filter((map) => !map.isEmpty);
};

// ---- Calls and messages over time

// { title, xTitle, laneTitle, to (ns), lanes: [name], functions: [name],
//   calls: [[lane, function, from, took, depth, text]], messages: [[lane, from, lane, to, text]],
//   marks (or none): [[lane, from, took, whether it is a cause, text]],
//   chain (as marks): [[lane, from, waiting lane, to, text]] of the waits that are charged to the cause }
class Timeline extends Figure {
  constructor(spec) {
    super(spec.title);
    this.spec = spec;
    this.useTime(0, spec.to);
    this.names = [...spec.functions, "messages",
      ...(spec.marks ? ["waits, and their cause in a frame", "who waits for it, directly or not"] : [])];
  }

  // Messages and waits have that of the text.
  colorOf(number) { return number < this.spec.functions.length ? classOf(lookOf(this.names[number])) : ""; }

  draw() {
    const { spec } = this, [axis] = this.axes, lane = Math.min(24, Math.max(3, 600 / spec.lanes.length));
    this.begin(64, 60 + lane * spec.lanes.length);
    this.drawLanes(spec.lanes, lane);
    const { left, right, top } = this.box;
    const inside = this.picture.appendChild(svg("g", { "clip-path": `url(#${this.clip})` }));
    const x = (time) => this.px(axis.place(time)), isSeen = (from, to) => x(to) >= left && x(from) <= right;
    const groups = this.names.map((name, i) => inside.appendChild(
      svg("g", { class: `series ${this.colorOf(i)}${this.hidden.has(name) ? " hidden" : ""}`, "data-series": name })));
    const drawRect = (group, look, [at, from, took], margin, name, text) => {
      if (!isSeen(from, from + took)) return;
      const start = Math.max(x(from), left - 2), node = group.appendChild(svg("rect", { class: look, x: start,
        y: top + at * lane + margin, width: Math.max(0.3, Math.min(x(from + took), right + 2) - start),
        height: lane - 2 * margin, "data-lane": spec.lanes[at] }));
      node.tipText = `${name}\n${spec.laneTitle} ${spec.lanes[at]}, ${valueText(took, "ns")} from ` +
        valueText(from, "ns", 1) + (text ? "\n" + text : "");
    };
    for (const [at, id, from, took, depth, text] of spec.calls)
      drawRect(groups[id], "call", [at, from, took],
        (lane > 8 ? 3 : 0.5) + Math.min(2, lane / 8) * Math.min(depth, 2), spec.functions[id], text);
    const drawLine = (group, look, [source, from, target, to], tipText) => {
      if (!isSeen(Math.min(from, to), Math.max(from, to))) return;
      group.appendChild(svg("path", { class: look,
        d: `M${x(from)} ${top + (source + 0.5) * lane}L${x(to)} ${top + (target + 0.5) * lane}` })).tipText = tipText;
    };
    for (const line of spec.messages)
      drawLine(groups[spec.functions.length], "call line", line, `message, ${line[4]}\nfrom ` +
        `${spec.lanes[line[0]]} to ${spec.lanes[line[2]]}, ${valueText(line[3] - line[1], "ns")} after its send began`);
    for (const [at, from, took, isCause, text] of spec.marks || [])
      drawRect(groups.at(-2), isCause ? "call mark cause" : "call mark", [at, from, took], isCause ? 1 : lane / 4,
        text);
    for (const line of spec.chain || [])
      drawLine(groups.at(-1), "call line chain", line,
        `${line[4]}: ${spec.laneTitle} ${spec.lanes[line[2]]} waits for ${spec.lanes[line[0]]}`);
    const lines = { [spec.functions.length]: "call line", [spec.functions.length + 2]: "call line chain" };
    const keyOf = (number) => lines[number] ? svg("path", { class: lines[number], d: "M1 11L27 1" })
      : svg("rect", { class: number < spec.functions.length ? "call" : "call mark", x: 2, y: 1, width: 24,
        height: 10 });
    this.drawLegend(this.names, (number) => [keyOf(number)]);
    this.finish();
  }

  // Of what covers an area, which is where the pointer is, there is one for sure.
  find(at, event) {
    const node = event.target.closest(".call");
    return node && { x: at.x, y: at.y, node, text: node.tipText };
  }
}

// ---- What threads do in the whole run

// { title, xTitle, laneTitle, from, to (ns), names: [[first, last thread of a row]],
//   rows: [[waits, is late, calls, runs]]: shares of each column, digits of cellDigits;
//   links: [[row, from, to]] of cause 1, 2, ..., in ns after `from` }
const cellDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const cellStates = [["waits", "--c0"], ["is late: others wait for it", "--c1"], ["in other calls of MPI", "--c7"],
  ["computes", "--line"]];

class Overview extends Figure {
  constructor(spec) {
    super(spec.title);
    this.spec = spec;
    this.useTime(spec.from, spec.to);
    this.columns = spec.rows[0][0].length;
    this.rowNames = spec.names.map(([first, last]) => first === last ? first : `${first} to ${last}`);
  }

  // Parts of 1: waits, is late, calls, computes.
  shares(row, column) {
    const [waits, late, calls, runs] = this.spec.rows[row].map((text) => cellDigits.indexOf(text[column]) / 61);
    return [waits, late, calls, Math.max(0, runs - waits - late - calls)];
  }

  paint() {
    const rows = this.spec.rows.length, canvas = html("canvas", { width: this.columns, height: rows });
    const context = canvas.getContext("2d"), image = context.createImageData(this.columns, rows);
    const style = getComputedStyle(document.documentElement);
    const colors = ["--paper", ...cellStates.map((one) => one[1])].map((name) => {
      const text = style.getPropertyValue(name).trim();
      return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
    });
    for (let row = 0, at = 0; row < rows; row++)
      for (let column = 0; column < this.columns; column++, at += 4) {
        const parts = this.shares(row, column).map((part, i) => this.hidden.has(cellStates[i][0]) ? 0 : part);
        const paper = Math.max(0, 1 - parts.reduce((sum, part) => sum + part, 0)), sum = [paper, ...parts];
        const whole = sum.reduce((a, b) => a + b, 0);
        for (let i = 0; i < 3; i++) image.data[at + i] = sum.reduce((v, part, k) => v + part * colors[k][i], 0) / whole;
        image.data[at + 3] = 255;
      }
    context.putImageData(image, 0, 0);
    return canvas.toDataURL();
  }

  draw() {
    const { spec } = this, [axis] = this.axes, rows = spec.rows.length, height = Math.min(24, Math.max(3, 500 / rows));
    this.begin(64, 60 + height * rows);
    const { top, bottom } = this.box, x = (time) => this.px(axis.place(time));
    const inside = this.picture.appendChild(svg("g", { "clip-path": `url(#${this.clip})` }));
    inside.append(svg("image", { class: "cells", href: this.paint(), x: x(spec.from), y: top, height: bottom - top,
      width: x(spec.to) - x(spec.from), preserveAspectRatio: "none" }));
    this.cell = inside.appendChild(svg("rect", { class: "cell", height }));
    spec.links.forEach(([row, from, to], i) => {
      const begin = x(spec.from + from), wide = Math.max(3, x(spec.from + to) - begin), y = top + row * height;
      inside.append(svg("a", { href: `#cause-${i + 1}`, "data-cause": i + 1 }, svg("title", {}, `cause ${i + 1}`),
        svg("rect", { class: "cause", x: begin - 1, y, width: wide + 2, height }),
        svg("text", { x: begin + wide + 4, y: y + height / 2 + 5 }, String(i + 1))));
    });
    this.drawLanes(spec.names.map((one) => one[0]), height);
    this.drawLegend(cellStates.map((one) => one[0]), (number) => [svg("rect", { x: 2, y: 1, width: 24, height: 10,
      style: `fill: var(${cellStates[number][1]})` })]);
    this.finish();
  }

  find(at) {
    const { spec, columns } = this, [low, high] = this.axes[0].seen, rows = spec.rows.length;
    const time = low + at.px * (high - low), row = Math.floor((1 - at.py) * rows);
    const column = Math.floor((time - spec.from) / (spec.to - spec.from) * columns);
    if (row < 0 || row >= rows || column < 0 || column >= columns || at.px < 0 || at.px > 1) return null;
    const place = (k) => this.px(this.axes[0].place(spec.from + k * (spec.to - spec.from) / columns));
    this.cell.setAttribute("x", place(column));
    this.cell.setAttribute("width", place(column + 1) - place(column));
    this.cell.setAttribute("y", this.box.top + row * (this.box.bottom - this.box.top) / rows);
    const parts = this.shares(row, column).map((part, i) => [cellStates[i][0], Math.round(100 * part)]);
    return { x: at.x, y: at.y, node: this.cell, text: [`${spec.laneTitle} ${this.rowNames[row]}, ` +
      `at ${valueText(time, "ns")}`, ...parts.filter((one) => one[1] > 0).map(([name, part]) => `${part} % ${name}`)]
      .join("\n") };
  }
}

// ---- All charts of the page

const tables = data.tables.map((table) => new Table(table));

const figuresOf = (spec) => {
  if (spec.type === "timeline") return [new Timeline(spec)];
  if (spec.type === "overview") return [new Overview(spec)];
  if (spec.type === "map") return mapsOf(spec, tables[spec.table]);
  const whole = tables[spec.table];
  const table = spec.without && whole.places.has(spec.without)
    ? whole.part(whole.rows.filter((row) => whole.get(row, spec.without) === null)) : whole;
  const panels = spec.panel && table.places.has(spec.panel) ? [...table.values(spec.panel)] : [null];
  const partOf = (panel) => table.part(table.rows.filter((row) => table.get(row, spec.panel) === panel));
  return panels.map((panel) => new Chart(spec, panel === null ? table : partOf(panel), panel))
    .filter((chart) => !chart.isEmpty);
};

for (const place of document.querySelectorAll("[data-chart]"))
  for (const figure of figuresOf(data.charts[Number(place.dataset.chart)])) {
    place.append(figure.element);
    figure.draw();
    figure.listen();
  }

// ---- Tables

const cellValue = (row, column) => {
  const cell = row.cells[column];
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  return cell.textContent === "–" ? null : cell.textContent;
};

const compare = (a, b) => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
};

// Numbers descend at first, as the largest are what is looked for.
const sortTable = (table, column) => {
  const head = table.tHead.rows[0].cells, body = table.tBodies[0], before = head[column].getAttribute("aria-sort");
  const isDescending = before ? before === "ascending" : head[column].classList.contains("number");
  const rows = [...body.rows].map((row) => ({ row, value: cellValue(row, column) }));
  // What has no value comes last either way.
  const sign = isDescending ? -1 : 1;
  rows.sort((a, b) => (a.value === null) - (b.value === null) || sign * compare(a.value, b.value) || 0);
  for (const cell of head) cell.removeAttribute("aria-sort");
  head[column].setAttribute("aria-sort", isDescending ? "descending" : "ascending");
  body.append(...rows.map((item) => item.row));
};

for (const table of document.querySelectorAll("table.sortable"))
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = html("button", { type: "button", onclick: () => sortTable(table, column) });
    button.append(...cell.childNodes);
    cell.append(button);
  });
document.querySelector("header").append(html("p", {
  className: "hint",
  textContent: "In a chart: drag to zoom, or turn the wheel with Ctrl; double-click to reset; or keys + − 0, " +
    "arrows. A click on a name in a legend hides its curve, one on a title in a table sorts by it." }));

// On paper, how it was measured is not folded.
const opened = new Set();
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details.print:not([open])")) {
    details.open = true;
    opened.add(details);
  }
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
  opened.clear();
});
