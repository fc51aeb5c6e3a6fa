// Where the time of a step goes: over all steps as a stack, of the newest ones as a table.

import { byId, h, keep, remade, show } from "./dom.js";
import { colour, drawAttempts, following, options, zooming } from "./chart.js";
import { read } from "./live.js";
import { number, percent, t } from "./words.js";

const HEIGHT = 220;

export class Phases {
  #run; #range; #ids = []; #plot = null; #attempts; #observer;

  /** `attempts`: a function that gives where each begins. */
  constructor(run, range, attempts) {
    [this.#run, this.#range, this.#attempts] = [run, range, attempts];
    range.add({ look: () => this.#plot?.setData(this.#plot.data, true), redraw: () => this.#plot?.redraw() });
  }

  async refresh(view) {
    this.#drawNow(view.phases);
    const { step, seconds } = await read(`/api/run/${encodeURIComponent(this.#run)}/phases`);
    show(byId("phases-shown"), step.length > 0);
    show(byId("no-phases"), step.length === 0);
    if (step.length) this.#draw(Object.keys(seconds), [step, ...stacked(Object.values(seconds))]);
  }

  #drawNow(phases) {
    const rows = phases.map((one) => ({ ...one, seconds: Math.round(100 * one.seconds) / 100 }));
    keep(byId("phases-now").querySelector("tbody"), rows, (one) => one.id, remade((one) =>
      h("tr", { "data-phase": one.id }, h("td", {}, h(`i.patch.${one.id}`), t(`phase.${one.id}`)),
        h("td.number", {}, number(one.seconds, 3)), h("td.number", {}, percent(one.share, 1)))));
  }

  #draw(ids, data) {
    if (this.#plot && ids.join() === this.#ids.join()) { this.#plot.setData(data, true); return; }
    this.#plot?.destroy();
    this.#ids = ids;
    const place = byId("phases-chart");
    const common = options(this.#range, place.clientWidth || 600, HEIGHT);
    const series = [...ids].reverse().map((id) => ({ fill: () => colour(`--phase-${id}`), stroke: () => colour("--card"), width: 0.5, points: { show: false } }));
    this.#plot = new uPlot({
      ...common,
      scales: { ...common.scales, y: { range: (_plot, _low, high) => [0, (high ?? 1) * 1.05 || 1] } },
      series: [{}, ...series],
      hooks: { setSelect: zooming(this.#range), draw: [(plot) => drawAttempts(plot, this.#attempts())] },
    }, data, place);
    this.#plot.root.setAttribute("aria-label", t("web.phases"));
    this.#plot.over.addEventListener("dblclick", () => this.#range.set(null));
    this.#range.sync.sub(this.#plot);
    this.#observer ??= following(place, (width) => width && this.#plot.setSize({ width, height: HEIGHT }));
  }
}

/** Each upon the one before; the highest first, since what is drawn later covers it. */
function stacked(columns) {
  let below = columns[0].map(() => 0);
  return columns.map((column) => (below = column.map((one, place) => below[place] + one))).reverse();
}
