import { byId, duration, fill, make, none, number, percent, stateMark, t, time, watch } from "./common.js";

const rows = new Map();
const sort = { key: "created_ms", down: true };

function shown(row) {
  const text = byId("filter").value.trim().toLowerCase();
  const state = byId("state").value;
  const told = `${row.run} ${row.job} ${row.state} ${t(`web.state.${row.state}`)}`.toLowerCase();
  return (!text || told.includes(text)) && (!state || row.state === state);
}

function compare(a, b) {
  const [left, right] = [a[sort.key], b[sort.key]];
  if (left === right) return a.run < b.run ? -1 : 1;
  if (left === null) return 1; // what is not known comes last, whichever way
  if (right === null) return -1;
  return (left < right ? -1 : 1) * (sort.down ? -1 : 1);
}

function progress(row) {
  if (row.step === null) return none();
  const cell = make("div", {}, row.total_steps ? `${row.step} / ${row.total_steps}` : `${row.step}`);
  if (row.total_steps) {
    const bar = make("div", { class: "progress" }, make("div"));
    bar.firstChild.style.width = `${Math.min(100, (100 * row.step) / row.total_steps)}%`;
    cell.append(bar);
  }
  return cell;
}

function line(row) {
  const link = make("a", { class: "mono", href: `/run/${encodeURIComponent(row.run)}` }, row.run);
  const cells = [
    make("td", { class: "run" }, link, make("div", { class: "job" }, row.job)),
    make("td", {}, stateMark(row.state)),
    make("td", { class: "num" }, progress(row)),
    make("td", { class: "num" }, number(row.reward) ?? none()),
    make("td", { class: "num" }, percent(row.goodput) ?? none()),
    make("td", { class: "num" }, number(row.steps_per_hour) ?? none()),
    make("td", { class: "num" }, String(row.attempts)),
    make("td", { class: row.alerts ? "num bad" : "num" }, row.alerts ? String(row.alerts) : t("web.none")),
    make("td", { class: "num", title: time(row.created_ms) }, duration((Date.now() - row.created_ms) / 1000)),
  ];
  return make("tr", { "data-run": row.run }, ...cells);
}

function draw() {
  const found = [...rows.values()].filter(shown).sort(compare);
  fill(document.querySelector("#runs tbody"), ...found.map(line));
  byId("empty").hidden = found.length > 0;
  byId("empty").textContent = rows.size ? t("web.no_match") : t("web.no_runs");
  byId("runs").hidden = !found.length;
  for (const head of document.querySelectorAll("#runs th")) {
    head.setAttribute("aria-sort", head.dataset.key === sort.key ? (sort.down ? "descending" : "ascending") : "none");
  }
}

for (const state of ["running", "waiting", "pending", "submitting", "unreachable", "succeeded", "failed", "stopped"]) {
  byId("state").append(make("option", { value: state }, t(`web.state.${state}`)));
}
byId("filter").addEventListener("input", draw);
byId("state").addEventListener("change", draw);
for (const head of document.querySelectorAll("#runs th")) {
  head.querySelector("button").addEventListener("click", () => {
    sort.down = sort.key === head.dataset.key ? !sort.down : head.classList.contains("num");
    sort.key = head.dataset.key;
    draw();
  });
}

let drawn = false;
watch([["runs"]], (message) => {
  message.rows.forEach((row) => rows.set(row.run, row));
  message.gone.forEach((name) => rows.delete(name));
  if (!drawn || !document.hidden) draw();
  drawn = true;
}, () => { if (!drawn) setTimeout(() => { if (!drawn) draw(); }, 3000); });
