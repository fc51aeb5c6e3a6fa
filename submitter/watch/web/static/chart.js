// One curve over the steps, on uPlot: attempts marked, steps that were trained again shown faintly, zoom shared.

import { h, say } from "./dom.js";
import { number, t } from "./words.js";

const HEIGHT = 168;
const PAD = 0.06;
const AXIS_PX = 54;

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** What all charts of a page share: the stretch of steps that is looked at, and the cursor. */
export class Range {
  #charts = new Set();
  #onChange;
  bounds = null;

  constructor(onChange) {
    this.#onChange = onChange;
    this.sync = uPlot.sync("steps");
    document.addEventListener("theme", () => { for (const chart of this.#charts) chart.redraw(); });
  }

  add(chart) { this.#charts.add(chart); }
  remove(chart) { this.#charts.delete(chart); }

  /** `[from, to]`, or null for the whole run. */
  set(bounds) {
    this.bounds = bounds;
    for (const chart of this.#charts) chart.look();
    this.#onChange(bounds);
  }
}

/** Options that charts of a page have in common. */
export function options(range, width, height) {
  const axis = (size) => ({
    size, stroke: () => colour("--dim"), font: "11px system-ui, sans-serif", gap: 4,
    grid: { stroke: () => colour("--grid"), width: 1 }, ticks: { show: false },
  });
  return {
    width, height,
    padding: [8, 10, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: range.sync.key, setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
    scales: { x: { time: false, range: (_plot, low, high) => wide(range.bounds, low, high) } },
    axes: [{ ...axis(24), space: 60, values: (_plot, all) => all.map((one) => (Number.isInteger(one) ? number(one) : "")) },
      { ...axis(AXIS_PX), space: 32, values: (_plot, all, _axis, _space, step) => all.map((one) => tick(one, step)) }],
  };
}

/** With as many decimals as the distance between two of them asks for. */
function tick(value, step) {
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)) return value.toExponential(step < Math.abs(value) / 10 ? 1 : 0);
  let decimals = 0;
  while (decimals < 6 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) decimals += 1;
  return value.toLocaleString("en-GB", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

function wide(bounds, low, high) {
  if (bounds) return bounds;
  return low === high || low === null ? [(low ?? 0) - 1, (high ?? 0) + 1] : [low, high];
}

/** Dragging chooses a stretch of steps, a double click the whole run. */
export function zooming(range) {
  return [(plot) => {
    const { left, width } = plot.select;
    if (width < 4) return;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    range.set([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")]);
  }];
}

export function following(element, resize) {
  const observer = new ResizeObserver(() => resize(element.clientWidth));
  observer.observe(element);
  return observer;
}

export class Chart {
  #range; #marks; #observer; #body;
  #steps = []; #values = []; #void = []; #attempts = [];

  /** `marks`: a function that gives the attempts, `[{attempt, step}]`. */
  constructor(name, title, range, onRemove) {
    this.name = name;
    this.#range = range;
    this.#body = h("div.plot");
    this.read = h("span.read");
    const close = h("button.quiet", { type: "button", "aria-label": `${t("web.close")}: ${name}`, onclick: () => onRemove(name) }, "×");
    const caption = h("figcaption", {}, h("b", {}, title || name), title ? h("span.dim.mono", {}, name) : null, h("span.grow"), this.read, close);
    this.element = h("figure.card.chart", { "data-name": name }, caption, this.#body);
  }

  /** Once the element is in the page: a chart has to know its width. */
  draw() {
    const width = this.#body.clientWidth || 400;
    const common = options(this.#range, width, HEIGHT);
    this.plot = new uPlot({
      ...common,
      scales: { ...common.scales, y: { range: (plot, low, high) => this.#yRange(plot, low, high) } },
      series: [{}, { stroke: () => colour("--line"), width: 1.5, points: { show: (_plot, _series, from, to) => to - from < 60, size: 4, fill: () => colour("--line") } }],
      hooks: { setSelect: zooming(this.#range), setCursor: [(plot) => this.#say(plot.cursor.idx)], drawClear: [(plot) => this.#under(plot)] },
    }, [this.#steps, this.#values], this.#body);
    this.plot.over.addEventListener("dblclick", () => this.#range.set(null));
    this.#range.sync.sub(this.plot);
    this.#range.add(this);
    this.#observer = following(this.#body, (wide) => wide && this.plot.setSize({ width: wide, height: HEIGHT }));
    this.#say(null);
  }

  /** Everything anew. */
  set({ step, value }, again, attempts) {
    [this.#steps, this.#values, this.#void, this.#attempts] = [step, value, again, attempts];
    this.#changed();
  }

  /** What has come since. */
  add({ step, value }) {
    if (!step.length) return;
    this.#steps.push(...step);
    this.#values.push(...value);
    this.#changed();
  }

  get points() { return this.#steps.length; }

  look() { this.plot?.setData([this.#steps, this.#values], true); }

  redraw() { this.plot?.redraw(); }

  remove() {
    this.#range.remove(this);
    this.#range.sync.unsub(this.plot);
    this.#observer?.disconnect();
    this.plot?.destroy();
    this.element.remove();
  }

  #changed() {
    if (!this.plot) return;
    this.plot.setData([this.#steps, this.#values], true);
    this.#say(this.plot.cursor.idx ?? null);
  }

  #say(index) {
    const at = index ?? this.#steps.length - 1;
    if (at < 0 || this.#values[at] === undefined) return;
    const [value, step] = [number(this.#values[at]), number(this.#steps[at])];
    const isHeld = index !== null && index !== undefined;
    say(this.read, isHeld ? `${step}: ${value}` : value);
    this.read.classList.toggle("held", isHeld);
    if (!isHeld) this.plot.root.setAttribute("aria-label", `${this.name}: ${t("web.last_value", { value, step })}`);
  }

  #yRange(plot, low, high) {
    const { min, max } = plot.scales.x;
    for (const one of this.#void) {
      one.value.forEach((value, place) => {
        if (one.step[place] < min || one.step[place] > max) return;
        low = Math.min(low ?? value, value);
        high = Math.max(high ?? value, value);
      });
    }
    if (low === null) return [0, 1];
    const pad = (high - low) * PAD || Math.abs(high) * PAD || 1;
    return [low - pad, high + pad];
  }

  /** Beneath the curve: where attempts begin, and the steps that were trained again. */
  #under(plot) {
    const { ctx } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
    ctx.clip();
    drawAttempts(plot, this.#attempts);
    for (const one of this.#void) drawFaint(plot, one);
    ctx.restore();
  }
}

/** Every second attempt has a band; each but the first a line with its number. */
export function drawAttempts(plot, attempts) {
  const { ctx, bbox } = plot;
  const at = (step) => plot.valToPos(step, "x", true);
  const scale = devicePixelRatio;
  attempts.forEach(({ attempt, step }, place) => {
    const [begin, end] = [at(step - 0.5), place + 1 < attempts.length ? at(attempts[place + 1].step - 0.5) : bbox.left + bbox.width];
    if (place % 2) {
      ctx.fillStyle = colour("--band");
      ctx.fillRect(begin, bbox.top, end - begin, bbox.height);
    }
    if (!place) return;
    ctx.fillStyle = colour("--mark");
    ctx.fillRect(begin, bbox.top, scale, bbox.height);
    ctx.fillStyle = colour("--dim");
    ctx.font = `${10 * scale}px system-ui, sans-serif`;
    ctx.fillText(`a${attempt}`, begin + 3 * scale, bbox.top + 10 * scale);
  });
}

function drawFaint(plot, { step, value }) {
  const { ctx } = plot;
  ctx.strokeStyle = colour("--faint");
  ctx.lineWidth = 1.2 * devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  step.forEach((one, place) => ctx.lineTo(plot.valToPos(one, "x", true), plot.valToPos(value[place], "y", true)));
  ctx.stroke();
  ctx.setLineDash([]);
}
