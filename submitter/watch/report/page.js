// Draws what is in sight: a page of a hundred curves opens as fast as one of six.
const data = JSON.parse(document.getElementById("data").textContent);
const FEW_POINTS = 60; // with so few, each is marked: a validation every 20 steps is no line
const dark = matchMedia("(prefers-color-scheme: dark)");
const config = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };
const drawn = new Set();

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
// Plotly takes text for HTML: a metric may be called <b>.
const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function layout(shapes = [], annotations = []) {
  const axis = { gridcolor: color("line"), linecolor: color("line"), zerolinecolor: color("line"), automargin: true };
  return {
    margin: { l: 48, r: 12, t: 18, b: 30 },
    font: { color: color("faint"), size: 11, family: getComputedStyle(document.body).fontFamily },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    showlegend: false,
    hovermode: "x unified",
    hoverlabel: { bgcolor: color("card"), bordercolor: color("line"), font: { color: color("text") } },
    xaxis: { ...axis, showgrid: false, hoverformat: "d", tickformat: "d" },
    yaxis: { ...axis, hoverformat: ".5~g", exponentformat: "e" },
    shapes,
    annotations,
  };
}

function begins() {
  const line = { color: color("begin"), width: 1, dash: "dash" };
  const later = data.attempts.slice(1);
  const shapes = later.map(({ step }) => ({ type: "line", x0: step, x1: step, y0: 0, y1: 1, yref: "paper", line }));
  const names = later.map(({ attempt, step }) => ({ x: step, y: 1, yref: "paper", yanchor: "bottom", text: `a${attempt}`, showarrow: false, font: { size: 10, color: color("begin") } }));
  return [shapes, names];
}

function alerted(name) {
  return (data.alerts[name] ?? []).filter(({ first }) => first !== null).map(({ severity, first, last }) => ({
    type: "rect", layer: "below", x0: first, x1: last ?? first, y0: 0, y1: 1, yref: "paper", opacity: 0.13,
    fillcolor: color(severity === "error" ? "bad" : "warn"), line: { width: 0 },
  }));
}

function curve(name) {
  const counts = data.curves[name] ?? { step: [], value: [] };
  const mode = (part) => (part.step.length <= FEW_POINTS ? "lines+markers" : "lines");
  const again = (data.again[name] ?? []).map((part) => ({
    x: part.step, y: part.value, mode: mode(part), marker: { size: 3 }, name: `a${part.attempt}`,
    line: { color: color("again"), width: 1.2, dash: "dot" },
  }));
  const now = { x: counts.step, y: counts.value, mode: mode(counts), marker: { size: 4 }, name: plain(name), line: { color: color("curve"), width: 1.5 } };
  const [shapes, names] = begins();
  return [[...again, now].map((trace) => ({ ...trace, type: "scatter" })), layout([...alerted(name), ...shapes], names)];
}

function phases() {
  const said = (id) => document.querySelector(`[data-phase="${id}"] .phase-name`)?.textContent ?? id;
  const traces = Object.entries(data.phases.seconds).map(([id, seconds]) => ({
    type: "scatter", x: data.phases.step, y: seconds, stackgroup: "all", mode: "lines", name: said(id),
    line: { width: 0.5, color: color(`phase-${id}`) }, fillcolor: `${color(`phase-${id}`)}cc`, // of 255
  }));
  const [shapes, names] = begins();
  return [traces, layout(shapes, names)];
}

function draw(figure) {
  const [traces, how] = figure.dataset.phases ? phases() : curve(figure.dataset.name);
  const plot = figure.querySelector(".plot");
  Plotly.react(plot, traces, how, config);
  if (!drawn.has(figure)) plot.on("plotly_relayout", (change) => follow(figure, change));
  drawn.add(figure);
}

// The steps that one chart is zoomed to, all show.
let following = false;
function follow(from, change) {
  if (following) return;
  const [begin, end] = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
  const said = change["xaxis.autorange"] ? { "xaxis.autorange": true } : begin === undefined ? null : { "xaxis.range": [begin, end] };
  if (!said) return;
  following = true;
  const others = [...drawn].filter((figure) => figure !== from && figure.offsetParent);
  Promise.all(others.map((figure) => Plotly.relayout(figure.querySelector(".plot"), said))).finally(() => { following = false; });
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    draw(target);
  }
}, { rootMargin: "300px" });
document.querySelectorAll(".chart").forEach((figure) => seen.observe(figure));
dark.addEventListener("change", () => drawn.forEach(draw));
addEventListener("beforeprint", () => document.querySelectorAll(".chart").forEach((figure) => { if (figure.offsetParent && !drawn.has(figure)) draw(figure); }));
