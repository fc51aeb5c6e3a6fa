// Draws what is in sight: a page of a hundred curves opens as fast as one of six.
const data = JSON.parse(document.getElementById("data").textContent);
const FEW_POINTS = 60; // with so few, each is marked: a validation every 20 steps is no line
const Y_AXIS_PX = 56;
const PAD = 0.06; // of the y range, above and below
const charts = [];
let bounds = null; // the steps that all charts show; null: the whole run

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const short = (value) => (value === null || value === undefined ? "–" : String(Number(value.toPrecision(5))));
const dots = (steps) => ({ show: steps.length <= FEW_POINTS, size: 4 });

function tick(value, distance) {
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)) return value.toExponential(distance < Math.abs(value) / 10 ? 1 : 0);
  return value.toFixed(Math.max(0, -Math.floor(Math.log10(distance) + 1e-9)));
}

function axes() {
  const axis = { stroke: () => color("faint"), font: "11px system-ui, sans-serif", gap: 4, ticks: { show: false } };
  const grid = { stroke: () => color("line"), width: 1 };
  const steps = (_plot, all) => all.map((step) => (Number.isInteger(step) ? String(step) : ""));
  return [
    { ...axis, size: 24, space: 60, grid: { show: false }, values: steps },
    { ...axis, size: Y_AXIS_PX, space: 30, grid, values: (_plot, all, _axis, _space, distance) => all.map((value) => tick(value, distance)) },
  ];
}

function xRange(_plot, low, high) {
  if (bounds) return bounds;
  return low === high ? [low - 1, high + 1] : [low, high];
}

function yRange(_plot, low, high) {
  if (low === null) return [0, 1];
  const pad = (high - low) * PAD || Math.abs(high) * PAD || 1;
  return [low - pad, high + pad];
}

function show(stretch) {
  bounds = stretch;
  for (const plot of charts) plot.setData(plot.data);
}

function choose(plot) {
  const { left, width } = plot.select;
  if (width > 3) show([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")]);
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

// Beneath the curves: where attempts begin, and where an alert is about this metric.
function under(plot, name) {
  const { ctx, bbox } = plot;
  const at = (step) => plot.valToPos(step, "x", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { severity, first, last } of data.alerts[name] ?? []) {
    if (first === null) continue;
    ctx.fillStyle = `${color(severity === "error" ? "bad" : "warn")}22`;
    ctx.fillRect(at(first - 0.5), bbox.top, at((last ?? first) + 0.5) - at(first - 0.5), bbox.height);
  }
  ctx.fillStyle = ctx.strokeStyle = color("begin");
  ctx.lineWidth = devicePixelRatio;
  ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { attempt, step } of data.attempts.slice(1)) {
    ctx.beginPath();
    ctx.moveTo(at(step), bbox.top);
    ctx.lineTo(at(step), bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(`a${attempt}`, at(step) + 3 * devicePixelRatio, bbox.top + 10 * devicePixelRatio);
  }
  ctx.restore();
}

function plotted(figure, columns, series, y, say) {
  const room = figure.querySelector(".plot");
  const size = () => ({ width: room.clientWidth, height: room.clientHeight });
  const hooks = { drawClear: [(plot) => under(plot, figure.dataset.name)], setSelect: [choose], setCursor: [(plot) => say(plot, plot.cursor.idx)] };
  const cursor = { drag: { x: true, y: false, setScale: false }, y: false, points: { size: 6 } };
  const scales = { x: { time: false, range: xRange }, y: { range: y } };
  const plot = new uPlot({ ...size(), padding: [8, 10, 0, 0], legend: { show: false }, axes: axes(), scales, cursor, hooks, series: [{}, ...series] }, columns, room);
  plot.over.addEventListener("dblclick", () => show(null));
  new ResizeObserver(() => room.clientWidth && plot.setSize(size())).observe(room);
  charts.push(plot);
  say(plot, null);
}

function curve(figure) {
  const counts = data.curves[figure.dataset.name] ?? { step: [], value: [] };
  const again = data.again[figure.dataset.name] ?? [];
  const read = figure.querySelector(".read");
  const columns = uPlot.join([[counts.step, counts.value], ...again.map(({ step, value }) => [step, value])]);
  const faint = again.map(() => ({ stroke: () => color("again"), width: 1.2, dash: [3, 3], points: dots(counts.step) }));
  const line = { stroke: () => color("curve"), width: 1.5, points: dots(counts.step) };
  plotted(figure, columns, [line, ...faint], yRange, (plot, place) => {
    if (place === null || place === undefined) {
      read.textContent = short(counts.value.at(-1));
      return;
    }
    const [steps, now, ...others] = plot.data;
    const parts = again.map(({ attempt }, number) => [attempt, others[number][place]]).filter(([, value]) => value !== undefined);
    read.textContent = `${steps[place]}: ${[short(now[place]), ...parts.map(([attempt, value]) => `a${attempt} ${short(value)}`)].join(" · ")}`;
  });
}

// The phases lie on one another; the highest is drawn first and the others over it.
function phases(figure) {
  const ids = Object.keys(data.phases.seconds);
  const read = figure.querySelector(".read");
  const name = (id) => document.querySelector(`[data-phase="${id}"] .phase-name`)?.textContent ?? id;
  const sums = [];
  for (const id of ids) sums.push(data.phases.seconds[id].map((seconds, place) => seconds + (sums.at(-1)?.[place] ?? 0)));
  const series = ids.map((id) => ({ stroke: () => color(`phase-${id}`), fill: () => color(`phase-${id}`), width: 1, points: { show: false } }));
  plotted(figure, [data.phases.step, ...sums.reverse()], series.reverse(), (_plot, _low, high) => [0, (high ?? 1) * (1 + PAD)], (_plot, place) => {
    const at = place ?? data.phases.step.length - 1;
    read.textContent = `${data.phases.step[at]}: ${ids.map((id) => `${name(id)} ${short(data.phases.seconds[id][at])}`).join(" · ")}`;
  });
}

const draw = (figure) => ("phases" in figure.dataset ? phases : curve)(figure);
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    draw(target);
  }
}, { rootMargin: "400px" });
document.querySelectorAll(".chart").forEach((figure) => seen.observe(figure));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => charts.forEach((plot) => plot.redraw()));
