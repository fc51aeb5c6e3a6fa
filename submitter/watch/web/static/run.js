import { body, byId, duration, fill, getJson, language, make, nodesTable, none, number, percent, post, stateMark, sure, t, time, watch } from "./common.js";
import { CONFIG, Curves, attemptMarks, colour, layout } from "./curves.js";
import { LogView } from "./log.js";

const run = body.dataset.run;
const api = `/api/run/${encodeURIComponent(run)}`;
const KEYS = { reward: ["critic/rewards/mean", "critic/score/mean"], entropy: ["actor/entropy", "actor/entropy_loss"], kl: ["rollout_corr/kl", "actor/ppo_kl", "actor/kl_loss"], grad_norm: ["actor/grad_norm"], response_length: ["response_length/mean"], step_s: ["timing_s/step", "perf/time_per_step"] };
const PHASES = { generation: ["gen", "generate_async", "switch_wait", "wait_for_enough_samples"], reward: ["reward"], old_log_prob: ["old_log_prob"], reference: ["ref"], values: ["values"], advantage: ["adv"], critic_update: ["update_critic"], actor_update: ["update_actor"], weight_sync: ["update_weights", "sync_rollout_weights", "param_sync", "switch_to_trainer", "switch_to_rollout"], checkpoint: ["save_checkpoint"], validation: ["testing"] };
const KEPT = "npurun-metrics";

let view = null;
let names = [];
let chosen = null;
let steps = null;
const titles = new Map();
const curves = new Curves(run, byId("curves"), titles);
const log = new LogView(run, byId("log"));

function card(title, value, small) {
  const shown = value === null || value === undefined ? make("dd", { class: "none" }, t("web.not_measured")) : make("dd", {}, value, small ? make("small", {}, ` ${small}`) : "");
  return make("div", { "data-card": title }, make("dt", {}, t(title)), shown);
}

function drawHead() {
  byId("state").replaceWith(Object.assign(stateMark(view.state), { id: "state" }));
  byId("summary").textContent = [view.job, view.address, view.reason ? t(`reason.${view.reason}`) : "", time(view.created_ms)].filter(Boolean).join(" · ");
  const share = view.step !== null && view.total_steps ? Math.min(1, view.step / view.total_steps) : 0;
  byId("progress").firstElementChild.style.width = `${share * 100}%`;
  byId("progress").setAttribute("aria-valuemax", view.total_steps ?? 0);
  byId("progress").setAttribute("aria-valuenow", view.step ?? 0);
  const eta = view.eta;
  const spread = eta ? `${duration(eta.low_s)} – ${duration(eta.high_s)}` : "";
  fill(byId("cards"),
    card("web.step", view.step === null ? null : String(view.step), view.total_steps ? `/ ${view.total_steps}` : ""),
    card("web.eta", eta ? duration(eta.mid_s) : null, spread),
    card("web.per_hour", number(view.steps_per_hour), view.step_s ? `${number(view.step_s)} s / ${t("web.step")}` : ""),
    card("web.reward", number(view.reward), view.reward_name ?? ""),
    card("web.tokens", number(view.tokens_per_npu_s)),
    card("web.goodput", percent(view.goodput?.share), view.goodput ? `${duration(view.goodput.useful_s)} / ${duration(view.goodput.wall_s)}` : ""));
  const active = ["submitting", "pending", "running", "unreachable", "waiting"].includes(view.state);
  byId("stop").hidden = !active;
  byId("resume").hidden = active || view.state === "succeeded";
  byId("nobody").hidden = !active || view.supervisor !== null;
  const pages = view.dashboard;
  fill(byId("ray"), ...["job", "cluster", "logs"].map((name) => (pages[name] ? make("a", { href: pages[name], target: "_blank", rel: "noopener noreferrer" }, t(`web.ray_${name}`)) : null)));
}

function drawAlerts() {
  const shown = [...view.alerts].sort((a, b) => (a.until_ms === null ? 0 : 1) - (b.until_ms === null ? 0 : 1) || b.number - a.number).slice(0, 20);
  fill(byId("alerts"), ...(shown.length ? shown.map((one) => make("div", { class: `alert ${one.severity} ${one.until_ms ? "passed" : ""}`, "data-alert": one.id },
    make("strong", { class: "mono" }, one.id), ` ${t(one.id, { ...one.values, node: one.node ?? "" })} `,
    make("span", { class: "faint" }, `· ${one.until_ms ? t("web.passed") : t("web.open_now")} · ${t("web.since")} ${time(one.since_ms)}`),
    make("details", {}, make("summary", {}, t("web.what_to_do")), make("p", {}, t(`${one.id}.fix`, one.values))))) : [make("p", { class: "faint" }, t("web.no_alerts"))]));
}

function drawPhaseBar() {
  const shades = Object.keys(PHASES);
  fill(byId("phase-bar"), ...view.phases.map((phase) => {
    const index = shades.indexOf(phase.id);
    const part = make("span", { title: `${t(`phase.${phase.id}`)}: ${number(phase.seconds)} s, ${percent(phase.share)}`, "data-phase": phase.id }, phase.share > 0.06 ? `${t(`phase.${phase.id}`)} ${Math.round(phase.share * 100)} %` : "");
    part.style.flex = `${phase.share} 0 0`;
    part.style.background = index < 0 ? "#7a8694" : colour(index);
    return part;
  }));
  byId("phase-bar").hidden = !view.phases.length;
}

async function drawPhases() {
  const there = Object.entries(PHASES).map(([id, parts]) => [id, parts.map((name) => `timing_s/${name}`).filter((name) => names.includes(name))]).filter(([, parts]) => parts.length);
  byId("phases").hidden = !there.length;
  if (!there.length) return;
  const query = there.flatMap(([, parts]) => parts).map((name) => `name=${encodeURIComponent(name)}`).join("&");
  const found = await getJson(`${api}/series?${query}&points=400`);
  const order = Object.keys(PHASES);
  const traces = there.map(([id, parts]) => {
    const sums = new Map();
    for (const name of parts) found.names[name]?.step.forEach((step, at) => sums.set(step, (sums.get(step) ?? 0) + found.names[name].value[at]));
    const at = [...sums.keys()].sort((a, b) => a - b);
    const sparse = id === "checkpoint" || id === "validation";
    return { x: at, y: at.map((step) => sums.get(step)), name: t(`phase.${id}`), mode: sparse ? "markers" : "lines", stackgroup: sparse ? undefined : "one", line: { width: 0.5, color: colour(order.indexOf(id)) }, marker: { size: 5, color: colour(order.indexOf(id)) }, hovertemplate: "%{y:.3g} s" };
  });
  Plotly.react(byId("phases"), traces, layout("", { height: 298, showlegend: true, legend: { orientation: "h", y: -0.22 }, ...attemptMarks(found.attempts), margin: { l: 48, r: 14, t: 14, b: 60 }, uirevision: "phases" }), CONFIG);
}

function drawNodes() {
  fill(byId("nodes"), view.nodes.length ? nodesTable(view.nodes) : make("p", { class: "empty" }, t("web.no_nodes")));
}

function evidence(attempt) {
  return attempt.evidence.map((one) => make("div", { class: "evidence mono" }, `${one.file}:${one.line}: ${one.text} `,
    make("button", { type: "button", class: "to-log", onclick: () => jump(attempt.attempt, one.text) }, t("web.to_log"))));
}

function decision(attempt) {
  const said = attempt.decision;
  return said ? make("p", {}, `${t("web.decision")}: ${t(`decide.${said.why}`, { run, node: attempt.node ?? "", reason: attempt.reason ?? "", ...said.values })}`) : null;
}

function lost(spent) {
  if (!spent) return null;
  const parts = spent.waiting_s + spent.start_s + spent.again_s + spent.after_s;
  return make("span", { class: "faint", title: `${number(spent.wall_s)} s` }, `${t("web.lost")} ${duration(parts)}`);
}

function drawAttempts() {
  fill(byId("attempts"), ...[...view.attempts].reverse().map((one) => make("article", { class: "attempt", "data-attempt": String(one.attempt) },
    make("div", { class: "head" }, make("strong", {}, `a${one.attempt}`), stateMark(one.state),
      one.reason ? make("span", { title: t(`reason.${one.reason}.means`) }, `${t("web.reason")}: ${t(`reason.${one.reason}`)}${one.node ? ` (${one.node})` : ""}`) : null,
      make("span", {}, `${t("web.steps")} ${one.first_step ?? "–"}–${one.last_step ?? "–"}`),
      one.resumed_from === null ? null : make("span", {}, `${t("web.resumed_from")} ${one.resumed_from}`),
      one.void_steps ? make("span", { class: "faint" }, `${one.void_steps} ${t("web.again")}`) : null,
      make("span", {}, `${time(one.posted_ms) ?? "–"} · ${t("web.lasted")} ${duration(((one.ended_ms ?? Date.now()) - (one.posted_ms ?? Date.now())) / 1000)}`),
      lost(one.spent),
      one.nodes ? make("span", { class: "faint" }, one.nodes.join(" ")) : null),
    ...evidence(one), decision(one))));
}

function drawChoices() {
  const numbers = view.attempts.map((one) => String(one.attempt)).reverse();
  for (const id of ["facts-of", "log-of"]) {
    const select = byId(id);
    if (select.options.length === numbers.length) continue;
    const newest = !select.options.length || select.selectedIndex === 0;
    const kept = select.value;
    fill(select, ...numbers.map((number) => make("option", { value: number }, `a${number}`)));
    select.value = newest ? numbers[0] : kept;
    if (numbers.length) (id === "facts-of" ? showFacts : showLog)();
  }
}

function table(found) {
  if (found === null) return make("p", { class: "faint" }, t("web.unknown"));
  return make("div", { class: "wide" }, make("table", { class: "facts mono" }, make("tbody", {}, ...Object.entries(found).map(([name, value]) => make("tr", {}, make("td", {}, name), make("td", {}, value))))));
}

async function showFacts() {
  const found = await getJson(`${api}/attempts/${byId("facts-of").value}/facts`);
  const part = (title, content, open) => make("details", { open }, make("summary", {}, t(title)), content);
  const rows = found.differences.map((one) => make("tr", {}, make("td", {}, `${one.section}: ${one.key}`), make("td", {}, one.left ?? t("web.none")), make("td", {}, one.right ?? t("web.none"))));
  const different = rows.length ? make("div", { class: "wide" }, make("table", { class: "facts mono differences" }, make("tbody", {}, ...rows))) : make("p", { class: "faint" }, t("web.none"));
  fill(byId("facts"), part("web.differences", different, true), part("web.arguments", table(found.arguments)), part("web.environment", table(found.environment)), part("web.versions", table(found.versions)));
}

function showLog() {
  log.show(Number(byId("log-of").value), byId("log-follow").checked);
  live.add(["log", run, Number(byId("log-of").value)]);
}

async function jump(attempt, text) {
  byId("log-of").value = String(attempt);
  byId("log-text").value = text.slice(0, 120);
  byId("log").scrollIntoView({ block: "center" });
  await log.jump(attempt, text.slice(0, 120));
}

function drawNames() {
  const text = byId("metric-search").value.trim().toLowerCase();
  const groups = new Map();
  for (const name of names.filter((one) => one.toLowerCase().includes(text))) {
    const group = name.includes("/") ? name.slice(0, name.indexOf("/")) : "…";
    groups.set(group, [...(groups.get(group) ?? []), name]);
  }
  fill(byId("metric-names"), ...[...groups].map(([group, members]) => make("fieldset", {}, make("legend", {}, group), ...members.map((name) => {
    const box = make("input", { type: "checkbox", value: name, onchange: () => toggle(name, box.checked) });
    box.checked = chosen.includes(name);
    return make("label", {}, box, name);
  }))));
}

function defaults() {
  const found = [];
  for (const [key, wanted] of Object.entries(KEYS)) {
    const name = wanted.find((one) => names.includes(one));
    if (name) { found.push(name); titles.set(name, `${t(`web.curve.${key}`)} · ${name}`); }
  }
  return found;
}

function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(KEPT) ?? "null");
    return Array.isArray(found) ? found.filter((name) => names.includes(name)) : null;
  } catch { return null; }
}

function choose(wanted, keep) {
  chosen = wanted;
  try { keep ? localStorage.setItem(KEPT, JSON.stringify(wanted)) : localStorage.removeItem(KEPT); } catch { /* for this page only */ }
  drawNames();
  return curves.show(chosen);
}

const toggle = (name, on) => choose(on ? [...chosen, name] : chosen.filter((one) => one !== name), true);

async function begin() {
  names = await getJson(`${api}/metrics`);
  const first = defaults();
  const before = kept();
  await choose(before?.length ? before : first, Boolean(before?.length));
  await drawPhases();
}

async function take(found) {
  const before = view;
  view = found;
  drawHead();
  drawAlerts();
  drawPhaseBar();
  drawNodes();
  drawAttempts();
  drawChoices();
  if (view.step !== steps || view.attempts.length !== before?.attempts.length) {
    steps = view.step;
    if (!names.length) await begin();
    else { await curves.refresh(); await drawPhases(); }
  }
}

byId("stop").addEventListener("click", async () => { if (await sure(t("web.stop_sure"))) await post(`/run/${encodeURIComponent(run)}/stop`); });
byId("resume").addEventListener("click", async () => { if (await sure(t("web.resume_sure"))) await post(`/run/${encodeURIComponent(run)}/resume`); });
byId("choose").addEventListener("click", () => {
  byId("chooser").hidden = !byId("chooser").hidden;
  byId("choose").setAttribute("aria-expanded", String(!byId("chooser").hidden));
});
byId("metric-search").addEventListener("input", drawNames);
byId("metric-defaults").addEventListener("click", () => choose(defaults(), false));
byId("facts-of").addEventListener("change", showFacts);
byId("log-of").addEventListener("change", showLog);
byId("log-follow").addEventListener("change", () => { log.following = byId("log-follow").checked; });
byId("log-newest").addEventListener("click", () => { byId("log-text").value = ""; showLog(); });
byId("log-find").addEventListener("submit", (event) => { event.preventDefault(); log.find(Number(byId("log-of").value), byId("log-text").value); });
addEventListener("themechange", () => { curves.draw(); drawPhases(); });

const live = watch([["run", run]], (message) => {
  if (message.kind === "run") take(message.view);
  else if (message.kind === "log") log.more(message);
});
if (language === "zh") document.documentElement.lang = "zh-CN";
begin();
