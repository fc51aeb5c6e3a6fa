// All runs: filtered by text and state, sorted by a column, kept up to date.

import { byId, cell, h, keep, remember, say, setting, show } from "./dom.js";
import { Live, read } from "./live.js";
import { bar, stateBadge } from "./parts.js";
import { ago, exact, useWords, number, percent, t, tOr, unmeasured } from "./words.js";

const SORT_KEY = "npurun-runs-sort";
const FIRST_DOWN = new Set(["reward", "goodput", "steps_per_hour", "attempts", "alerts", "created_ms", "progress"]);
const STATES = ["running", "pending", "submitting", "waiting", "unreachable", "failed", "stopped", "succeeded"];
const AGE_EVERY_MS = 30_000;

const rows = new Map();
let sort = setting(SORT_KEY, { key: "created_ms", down: true });
let state = "";

const share = (row) => (row.step !== null && row.total_steps ? row.step / row.total_steps : null);
const sortValue = (row) => (sort.key === "progress" ? share(row) ?? row.step : row[sort.key]);

function compared(left, right) {
  const [one, other] = [sortValue(left), sortValue(right)];
  if (one === null || other === null) return (one === null) - (other === null); // not measured: last, either way
  const order = typeof one === "string" ? one.localeCompare(other) : one - other;
  return (sort.down ? -order : order) || left.run.localeCompare(right.run);
}

function wanted(row) {
  const text = byId("filter").value.trim().toLowerCase();
  const words = `${row.run} ${row.job} ${row.state} ${tOr(`web.state.${row.state}`, "")}`.toLowerCase();
  return (!state || row.state === state) && text.split(/\s+/).every((word) => words.includes(word));
}

function drawnRow(row) {
  const cells = Object.fromEntries(
    ["reward", "goodput", "per_hour", "attempts", "alerts", "age"].map((name) => [name, cell(t(`web.${name}`), "", "number")]),
  );
  const badge = cell(t("web.state"), "");
  const step = h("span.count");
  const progress = cell(t("web.step"), [h("span"), step], "steps");
  const name = h("td.name", {}, h("a.mono", { href: `/run/${encodeURIComponent(row.run)}` }, row.run), h("span.dim", {}, row.job));
  const element = h("tr", {}, name, badge, progress, ...Object.values(cells));
  return { element, update: (now) => updateRow(element, { badge, progress, step, cells }, now) };
}

function updateRow(element, { badge, progress, step, cells }, row) {
  if (element.dataset.state !== row.state) badge.replaceChildren(stateBadge(row.state));
  element.dataset.state = row.state;
  progress.firstElementChild.replaceWith(bar(share(row), percent(share(row))));
  say(step, row.step === null ? unmeasured() : `${number(row.step)} / ${row.total_steps === null ? "?" : number(row.total_steps)}`);
  measured(cells.reward, row.reward, number);
  measured(cells.goodput, row.goodput, (value) => percent(value, 1));
  measured(cells.per_hour, row.steps_per_hour, (value) => number(value, 3));
  say(cells.attempts, number(row.attempts));
  say(cells.alerts, number(row.alerts));
  cells.alerts.classList.toggle("warn", row.alerts > 0);
  say(cells.age, ago(row.created_ms));
  cells.age.title = exact(row.created_ms);
}

function measured(element, value, format) {
  element.classList.toggle("unmeasured", value === null);
  say(element, value === null ? unmeasured() : format(value));
}

function draw() {
  const all = [...rows.values()];
  const shown = all.filter(wanted).sort(compared);
  keep(byId("rows"), shown, (row) => row.run, drawnRow);
  show(byId("reading"), false);
  show(byId("list"), all.length > 0);
  show(byId("no-runs"), all.length === 0);
  show(byId("no-match"), all.length > 0 && shown.length === 0);
  drawHeads();
  drawStates(all);
}

function drawHeads() {
  for (const head of document.querySelectorAll("th[data-key]")) {
    const order = head.dataset.key !== sort.key ? "none" : sort.down ? "descending" : "ascending";
    head.setAttribute("aria-sort", order);
  }
}

function drawStates(all) {
  const counts = STATES.map((name) => [name, all.filter((row) => row.state === name).length]).filter(([, count]) => count);
  keep(byId("states"), [["", all.length], ...counts], ([name]) => name, ([name]) => {
    const count = h("b");
    const words = name ? t(`web.state.${name}`) : t("web.all_states");
    const element = h("button.chip", { type: "button", "data-state": name, onclick: () => choose(name) }, words, " ", count);
    return { element, update: ([, now]) => { say(count, String(now)); element.setAttribute("aria-pressed", state === name); } };
  });
}

function choose(name) {
  state = state === name ? "" : name;
  draw();
}

function sortBy(key) {
  sort = { key, down: sort.key === key ? !sort.down : FIRST_DOWN.has(key) };
  remember(SORT_KEY, sort);
  draw();
}

function take(message) {
  for (const row of message.rows) rows.set(row.run, row);
  for (const name of message.gone) rows.delete(name);
  draw();
}

async function readAll() {
  const all = await read("/api/runs").catch((error) => say(byId("reading"), error.message) && null);
  if (!all) return;
  rows.clear();
  take({ rows: all, gone: [] });
}

useWords(await read("/texts.json"));
for (const head of document.querySelectorAll("th[data-key]")) {
  head.querySelector("button").addEventListener("click", () => sortBy(head.dataset.key));
}
byId("filter").addEventListener("input", draw);
const live = new Live();
live.watch(["runs"], take);
live.onReturn(readAll);
live.open();
readAll();
setInterval(draw, AGE_EVERY_MS);
