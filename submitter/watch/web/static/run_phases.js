// Where the time of a step goes: over all steps as a stack, of the newest ones as a table.

import { byId, h, keep, remade, say, show } from "./dom.js";
import { colour, drawAttempts, following, options, zooming } from "./chart.js";
import { read } from "./live.js";
import { query } from "./run_curves.js";
import { number, percent, t } from "./words.js";

const HEIGHT = 220;
const POINTS = 300;
const STEP = "timing_s/step";
const OTHER = "other";

export class Phases {
  #run; #table; #range; #names = []; #ids = []; #plot = null; #attempts = [];

  /** `table`: the names of each phase. */
  constructor(run, table, range) {
    [this.#run, this.#table, this.#range] = [run, table, range];
    range.add({ look: () => this.#plot?.setData(this.#plot.data, true), get plot() { return { redraw: () => this.onTheme?.() }; } });
    document.addEventListener("theme", () => this.#plot?.redraw());
  }

  async begin(names, view) {
    const there = (one) => names.includes(one);
    this.#ids = Object.keys(this.#table).filter((id) => this.#table[id].some(there));
    this.#names = [STEP, ...this.#ids.flatMap((id) => this.#table[id].filter(there))].filter(there);
    show(byId("phases-shown"), this.#ids.length > 0);
    show(byId("no-phases"), this.#ids.length === 0);
    await this.refresh(view);
  }

  async refresh(view) {
    this.#drawNow(view.phases);
    if (!this.#ids.length) return;
    const found = await read(`/api/run/${encodeURIComponent(this.#run)}/series?${query(this.#names, { points: POINTS })}`);
    this.#attempts = found.attempts.length ? found.attempts : this.#attempts;
    this.#draw(this.#stacked(found.names));
  }

  #drawNow(phases) {
    const rows = phases.map((one) => ({ ...one, seconds: Math.round(100 * one.seconds) / 100 }));
    keep(byId("phases-now").querySelector("tbody"), rows, (one) => one.id, remade((one) =>
      h("tr", { "data-phase": one.id }, h("td", {}, h(`i.patch.${one.id}`), t(`phase.${one.id}`)),
        h("td.number", {}, number(one.seconds, 3)), h("td.number", {}, percent(one.share, 1)))));
  }

  /** Columns for a stack, each upon the one before; a step that lacks a phase spent no time in it. */
  #stacked(curves) {
    const steps = [...new Set(this.#names.flatMap((name) => curves[name]?.step ?? []))].sort((one, other) => one - other);
    const columns = this.#ids.map((id) => this.#summed(curves, this.#table[id], steps));
    let below = steps.map(() => 0);
    const stacked = columns.map((column) => (below = column.map((one, place) => below[place] + one)));
    return [steps, ...stacked.reverse()];
  }

  #summed(curves, names, steps) {
    const sums = steps.map(() => 0);
    for (const name of names) if (curves[name]) addHeld(sums, steps, curves[name]);
    return sums;
  }

  #draw(data) {
    if (this.#plot) { this.#plot.setData(data, true); return; }
    const place = byId("phases-chart");
    const common = options(this.#range, place.clientWidth || 600, HEIGHT);
    const series = [...this.#ids].reverse().map((id) => ({ fill: () => colour(`--phase-${id}`), stroke: () => colour("--card"), width: 0.5, points: { show: false } }));
    this.#plot = new uPlot({
      ...common,
      scales: { ...common.scales, y: { range: (_plot, _low, high) => [0, (high ?? 1) * 1.05 || 1] } },
      series: [{}, ...series],
      hooks: { setSelect: zooming(this.#range), draw: [(plot) => drawAttempts(plot, this.#attempts)] },
    }, data, place);
    this.#plot.root.setAttribute("aria-label", t("web.phases"));
    this.#plot.over.addEventListener("dblclick", () => this.#range.set(null));
    this.#range.sync.sub(this.#plot);
    following(place, (width) => width && this.#plot.setSize({ width, height: HEIGHT }));
  }
}

/** A thinned curve between its points is what it was at the one before. */
function addHeld(sums, steps, { step, value }) {
  let place = -1;
  steps.forEach((one, row) => {
    while (place + 1 < step.length && step[place + 1] <= one) place += 1;
    if (place >= 0) sums[row] += value[place];
  });
}
