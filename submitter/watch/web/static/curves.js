// Curves of a run: read once, then only what is new; attempts are marked, steps that were trained again are faint.
import { byId, getJson, language, make, t } from "./common.js";

const COLOURS = ["#3b82c4", "#d9822b", "#3f9d6b", "#b2579c", "#7d6bc9", "#c4544b", "#2f9aa0", "#8a7a3b", "#5b6b7d", "#9a5b2d", "#4f8a3c", "#888888"];
const POINTS = 2000;

export const colour = (index) => COLOURS[index % COLOURS.length];
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function layout(title, more = {}) {
  const axis = { gridcolor: style("--line"), zerolinecolor: style("--line"), automargin: true };
  return {
    title: { text: title, font: { size: 13 }, x: 0.02, xanchor: "left", y: 0.96 },
    margin: { l: 48, r: 14, t: 34, b: 34 }, height: more.height ?? 248, autosize: true,
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: style("--text"), size: 11, family: "system-ui, sans-serif" },
    xaxis: { ...axis, title: { text: t("web.step"), standoff: 4 } }, yaxis: { ...axis }, showlegend: false, hovermode: "x", ...more,
  };
}

export const CONFIG = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["lasso2d", "select2d"], locale: language === "zh" ? "zh-CN" : "en" };

export function attemptMarks(attempts) {
  const later = attempts.slice(1);
  return {
    shapes: later.map((one) => ({ type: "line", x0: one.step, x1: one.step, yref: "paper", y0: 0, y1: 1, line: { color: style("--faint"), width: 1, dash: "dot" } })),
    annotations: later.map((one) => ({ x: one.step, yref: "paper", y: 1, yanchor: "bottom", showarrow: false, text: `a${one.attempt}`, font: { size: 10, color: style("--faint") } })),
  };
}

export class Curves {
  constructor(run, element, titles) {
    this.run = run;
    this.element = element;
    this.titles = titles;
    this.names = [];
    this.data = null;
    this.charts = new Map();
    this.reading = false;
  }

  async show(names) {
    this.names = [...names];
    this.data = null;
    for (const [name, chart] of this.charts) {
      if (!names.includes(name)) { Plotly.purge(chart); chart.remove(); this.charts.delete(name); }
    }
    for (const name of names) {
      const chart = this.charts.get(name) ?? make("div", { class: "chart", "data-metric": name, role: "img", "aria-label": name });
      this.charts.set(name, chart);
      this.element.append(chart);
    }
    await this.refresh();
  }

  async refresh() {
    if (this.reading || !this.names.length) return;
    this.reading = true;
    const asked = [...this.names];
    try {
      const query = asked.map((name) => `name=${encodeURIComponent(name)}`).join("&");
      const found = await getJson(`/api/run/${encodeURIComponent(this.run)}/series?${query}&points=${POINTS}&after=${this.data?.size ?? 0}`);
      if (asked.join() === this.names.join()) this.take(found);
    } finally {
      this.reading = false;
    }
    if (asked.join() !== this.names.join()) await this.refresh();
  }

  take(found) {
    const grown = Object.values(found.names).some((curve) => curve.step.length);
    if (found.reset || !this.data) this.data = found;
    else {
      for (const [name, curve] of Object.entries(found.names)) {
        this.data.names[name].step.push(...curve.step);
        this.data.names[name].value.push(...curve.value);
      }
      this.data.size = found.size;
      if (!grown) return;
    }
    this.draw();
  }

  draw() {
    if (!this.data) return;
    this.names.forEach((name, index) => {
      const curve = this.data.names[name] ?? { step: [], value: [] };
      const void_ = (this.data.void?.[name] ?? []).map((one) => ({
        x: one.step, y: one.value, mode: "lines", line: { color: colour(index), width: 1 }, opacity: 0.3, hoverinfo: "skip", name: `a${one.attempt} ${t("web.again")}`,
      }));
      const line = { x: curve.step, y: curve.value, mode: curve.step.length < 60 ? "lines+markers" : "lines", marker: { size: 4 }, line: { color: colour(index), width: 1.6 }, name, hovertemplate: "%{y:.5g}<extra></extra>" };
      const more = { ...attemptMarks(this.data.attempts), uirevision: name };
      Plotly.react(this.charts.get(name), [...void_, line], layout(this.titles.get(name) ?? name, more), CONFIG);
    });
    performance.mark("curves-drawn");
    byId("curves").dataset.drawn = String(this.data.size);
  }
}
