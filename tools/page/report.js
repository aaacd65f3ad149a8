"use strict";
// Values under the pointer, zoom, and tables that sort. The page is complete without.

const svgElement = (name, attributes, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
};
const element = (name, properties) => Object.assign(document.createElement(name), properties);

// ---- Axes, as the program draws them

const logarithm = { linear: (v) => v, log: Math.log10, log2: Math.log2 };
const power = { linear: (v) => v, log: (v) => 10 ** v, log2: (v) => 2 ** v };

// With as many digits as tell it from another value that is a step away.
const shortNumber = (value, unit, step) => {
  const digits = step > 0 ? Math.min(15, Math.max(4, Math.ceil(Math.log10(Math.abs(value) / step)) + 1)) : 4;
  const isLong = digits === 4 && Math.abs(value) >= 999.95 && Math.abs(value) < 1e15;
  const text = isLong ? value.toFixed(0) : String(Number(value.toPrecision(digits)));
  return unit ? text + " " + unit : text;
};

const tickText = (value, unit, distance) => {
  if (value === 0) return "0";
  if (unit === "ns") {
    const steps = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [0, "ns"]];
    const [step, name] = steps.find((candidate) => Math.abs(value) >= candidate[0] * 0.9995);
    return shortNumber(value / (step || 1), name, distance / (step || 1));
  }
  if (unit === "bytes") {
    const names = ["B", "KiB", "MiB", "GiB", "TiB"];
    let name = 0;
    for (; name < 4 && value >= 1024 && value % 128 === 0; name++) value /= 1024;
    return shortNumber(value, names[name]);
  }
  return shortNumber(value, unit === "%" ? unit : "", distance);
};

const niceStep = (span) => {
  const least = 10 ** Math.floor(Math.log10(span));
  return least * [1, 2, 5, 10].find((step) => step * least >= span * 0.9999);
};

// Ticks of [from, to], which are logarithms on a logarithmic axis.
const ticksOf = (axis, from, to) => {
  const ticks = [];
  const span = to - from;
  const add = (value) => {
    const place = logarithm[axis.scale](value);
    if (place >= from && place <= to) ticks.push(value);
  };
  if (axis.scale === "linear" || (axis.scale === "log" && span < 0.8) || (axis.scale === "log2" && span < 1)) {
    const low = power[axis.scale](from), high = power[axis.scale](to), step = niceStep((high - low) / 6);
    const first = Math.ceil(low / step);
    for (let i = 0; i < 64 && (first + i) * step <= high; i++) add((first + i) * step);
    return ticks;
  }
  const step = Math.max(1, Math.ceil(span / 8));
  for (let i = Math.ceil(Math.floor(from) / step) * step; i <= to; i += step)
    for (const digit of axis.scale === "log" && span < 2.5 ? [1, 2, 5] : [1]) add(digit * power[axis.scale](i));
  return ticks;
};

// ---- Charts

class Chart {
  constructor(figure) {
    this.figure = figure;
    this.svg = figure.querySelector("svg.chart");
    const place = (side) => Number(this.svg.dataset[side]);
    this.box = { left: place("left"), right: place("right"), top: place("top"), bottom: place("bottom") };
    this.axes = [...this.svg.querySelectorAll(".axis")].map((group) => this.readAxis(group));
    this.points = [...this.svg.querySelectorAll(".point, .single")].map((node) => {
      const [x, y] = node.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
      const title = node.querySelector("title");
      return { node, x, y, atX: x, atY: y, text: title && title.textContent };
    });
    // The browser's own tips would come in addition.
    for (const title of this.svg.querySelectorAll(".point > title, .call > title")) {
      title.parentNode.setAttribute("aria-label", title.textContent);
      title.remove();
    }
    this.tip = figure.appendChild(element("div", { className: "tip", hidden: true }));
    this.resetButton = figure.appendChild(element("button", {
      className: "reset", type: "button", textContent: "reset zoom", hidden: true, onclick: () => this.reset() }));
    this.svg.setAttribute("tabindex", "0");
    this.listen();
    this.legend();
    this.reset();
  }

  readAxis(group) {
    const { scale, unit, min, max } = group.dataset;
    const bounds = [min, max].map((value) => logarithm[scale](Number(value)));
    const horizontal = group.classList.contains("horizontal");
    return { group, scale, unit, bounds, horizontal, nodes: [...group.childNodes] };
  }

  reset() {
    this.view = { x0: 0, x1: 1, y0: 0, y1: 1 };
    this.show();
  }

  // Sets the part that is seen, in parts of the whole. Categories have no vertical axis, so all of them are seen.
  look(x0, x1, y0, y1) {
    const least = 1e-4;
    if (this.axes.length < 2) [y0, y1] = [0, 1];
    if (x1 - x0 < least || y1 - y0 < least) return;
    const within = (from, to) => {
      const span = Math.min(1, to - from);
      const begin = Math.min(Math.max(0, from), 1 - span);
      return [begin, begin + span];
    };
    [x0, x1] = within(x0, x1);
    [y0, y1] = within(y0, y1);
    this.view = { x0, x1, y0, y1 };
    this.show();
  }

  show() {
    const { left, right, top, bottom } = this.box, { x0, x1, y0, y1 } = this.view;
    const sx = 1 / (x1 - x0), sy = 1 / (y1 - y0), whole = sx === 1 && sy === 1;
    const tx = left - sx * (left + x0 * (right - left)), ty = bottom - sy * (bottom - y0 * (bottom - top));
    const matrix = whole ? "matrix(1 0 0 1 0 0)" : `matrix(${sx} 0 0 ${sy} ${tx} ${ty})`;
    for (const group of this.svg.querySelectorAll(".shapes")) group.setAttribute("transform", matrix);
    for (const point of this.points) {
      point.atX = whole ? point.x : point.x * sx + tx;
      point.atY = whole ? point.y : point.y * sy + ty;
      point.node.setAttribute("transform", `translate(${point.atX.toFixed(2)} ${point.atY.toFixed(2)})`);
    }
    for (const axis of this.axes) this.showAxis(axis, whole);
    this.resetButton.hidden = whole;
    this.tip.hidden = true;
  }

  showAxis(axis, whole) {
    if (whole) {
      axis.group.replaceChildren(...axis.nodes);
      return;
    }
    const { left, right, top, bottom } = this.box, { x0, x1, y0, y1 } = this.view;
    const [begin, end] = axis.horizontal ? [x0, x1] : [y0, y1];
    const [from, to] = [begin, end].map((part) => axis.bounds[0] + part * (axis.bounds[1] - axis.bounds[0]));
    axis.group.replaceChildren();
    const ticks = ticksOf(axis, from, to), distance = axis.scale === "linear" ? ticks[1] - ticks[0] : 0;
    for (const value of ticks) {
      const part = (logarithm[axis.scale](value) - from) / (to - from);
      const x = left + part * (right - left), y = bottom - part * (bottom - top);
      axis.group.append(
        svgElement("path", { class: "tick", d: axis.horizontal ? `M${x} ${top}V${bottom}` : `M${left} ${y}H${right}` }),
        svgElement("text", axis.horizontal ? { x, y: bottom + 18, "text-anchor": "middle" }
          : { x: left - 8, y: y + 4, "text-anchor": "end" }, tickText(value, axis.unit, distance)));
    }
  }

  // Where the pointer is, in the units of the picture and in parts of what is seen.
  locate(event) {
    const { left, right, top, bottom } = this.box;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return { x: at.x, y: at.y, px: (at.x - left) / (right - left), py: (bottom - at.y) / (bottom - top) };
  }

  scale(factor, px = 0.5, py = 0.5) {
    const { x0, x1, y0, y1 } = this.view, w = (x1 - x0) * factor, h = (y1 - y0) * factor;
    const x = x0 + px * (x1 - x0 - w), y = y0 + py * (y1 - y0 - h);
    this.look(x, x + w, y, y + h);
  }

  move(dx, dy) {
    const { x0, x1, y0, y1 } = this.view, w = x1 - x0, h = y1 - y0;
    this.look(x0 + dx * w, x1 + dx * w, y0 + dy * h, y1 + dy * h);
  }

  hover(at) {
    const { left, right, top, bottom } = this.box;
    let near = null, least = 30;
    for (const point of this.points) {
      const distance = Math.hypot(point.atX - at.x, point.atY - at.y);
      const seen = point.atX > left - 6 && point.atX < right + 6 && point.atY > top - 6 && point.atY < bottom + 6;
      if (point.text && seen && distance < least && !point.node.closest(".hidden")) [near, least] = [point, distance];
    }
    this.tell(near);
  }

  // Of what covers an area, which is where the pointer is, there is one for sure.
  hoverCall(node, at) {
    this.tell(node && { node, text: node.getAttribute("aria-label"), atX: at.x, atY: at.y });
  }

  tell(near) {
    if (this.near) this.near.node.classList.remove("near");
    this.near = near;
    this.tip.hidden = !near;
    if (!near) return;
    near.node.classList.add("near");
    this.tip.textContent = near.text;
    const frame = this.figure.getBoundingClientRect();
    const screen = new DOMPoint(near.atX, near.atY).matrixTransform(this.svg.getScreenCTM());
    const x = screen.x - frame.left, y = screen.y - frame.top, { offsetWidth, offsetHeight } = this.tip;
    this.tip.style.left = `${Math.max(0, x + 14 + offsetWidth > frame.width ? x - 14 - offsetWidth : x + 14)}px`;
    this.tip.style.top = `${Math.max(0, y - offsetHeight - 8)}px`;
  }

  drag(at) {
    const rising = (a, b) => a - b, { top, bottom } = this.box;
    const [x0, x1] = [this.start.x, at.x].sort(rising);
    const [y0, y1] = this.axes.length < 2 ? [top, bottom] : [this.start.y, at.y].sort(rising);
    this.mark = this.mark || this.svg.appendChild(svgElement("rect", { class: "box" }));
    const attributes = { x: x0, y: y0, width: x1 - x0, height: y1 - y0 };
    for (const key in attributes) this.mark.setAttribute(key, attributes[key]);
  }

  drop(at) {
    const { x0, x1, y0, y1 } = this.view, start = this.start, [w, h] = [x1 - x0, y1 - y0];
    if (this.mark) this.mark.remove();
    this.start = this.mark = null;
    if (!start || Math.hypot(at.x - start.x, at.y - start.y) < 8) return;
    const [px0, px1] = [start.px, at.px].sort((a, b) => a - b), [py0, py1] = [start.py, at.py].sort((a, b) => a - b);
    this.look(x0 + px0 * w, x0 + px1 * w, y0 + py0 * h, y0 + py1 * h);
  }

  listen() {
    const svg = this.svg;
    svg.addEventListener("pointermove", (event) => {
      const at = this.locate(event);
      if (this.start) this.drag(at);
      else if (this.points.length) this.hover(at);
      else this.hoverCall(event.target.closest(".call"), at);
    });
    svg.addEventListener("pointerleave", () => this.start || this.hover({ x: -1e9, y: -1e9 }));
    svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      svg.setPointerCapture(event.pointerId);
      this.start = this.locate(event);
    });
    svg.addEventListener("pointerup", (event) => this.drop(this.locate(event)));
    svg.addEventListener("pointercancel", (event) => this.drop(this.start || this.locate(event)));
    svg.addEventListener("dblclick", () => this.reset());
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== svg) return;
      event.preventDefault();
      const at = this.locate(event);
      this.scale(event.deltaY > 0 ? 1.25 : 0.8, at.px, at.py);
    }, { passive: false });
    const keys = {
      "+": () => this.scale(0.8), "=": () => this.scale(0.8), "-": () => this.scale(1.25), 0: () => this.reset(),
      ArrowLeft: () => this.move(-0.2, 0), ArrowRight: () => this.move(0.2, 0), ArrowUp: () => this.move(0, 0.2),
      ArrowDown: () => this.move(0, -0.2),
    };
    svg.addEventListener("keydown", (event) => {
      if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  // A click on a name hides its curve, and shows it again.
  legend() {
    const series = [...this.svg.querySelectorAll(".series")];
    [...this.figure.querySelectorAll(".legend li")].forEach((item, number) => {
      const button = element("button", { type: "button" });
      button.setAttribute("aria-pressed", "true");
      button.append(...item.childNodes);
      button.addEventListener("click", () => {
        const hidden = series[number].classList.toggle("hidden");
        button.setAttribute("aria-pressed", String(!hidden));
      });
      item.append(button);
    });
  }
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

const sortTable = (table, column) => {
  const head = table.tHead.rows[0].cells, body = table.tBodies[0];
  const sign = head[column].getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const rows = [...body.rows].map((row) => ({ row, value: cellValue(row, column) }));
  // What has no value comes last either way.
  rows.sort((a, b) => (a.value === null) - (b.value === null) || sign * compare(a.value, b.value) || 0);
  for (const cell of head) cell.removeAttribute("aria-sort");
  head[column].setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
  body.append(...rows.map((item) => item.row));
};

for (const table of document.querySelectorAll("table.sortable"))
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = element("button", { type: "button", onclick: () => sortTable(table, column) });
    button.append(...cell.childNodes);
    cell.append(button);
  });
for (const figure of document.querySelectorAll("figure.chart")) new Chart(figure);
document.querySelector("header").append(element("p", {
  className: "hint",
  textContent: "In a chart: drag to zoom, or turn the wheel with Ctrl; double-click to reset; or keys + − 0, arrows. " +
    "A click on a name in a legend hides its curve, one on a title in a table sorts by it." }));

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
