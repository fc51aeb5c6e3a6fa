// What one look tells: how far, how long still, how fast, and what is wrong.

import { byId, cell, fill, h, keep, remade, say, show, table } from "./dom.js";
import { dim, stateBadge, value } from "./parts.js";
import { ago, alertText, duration, exact, moment, number, percent, t, tOr, unmeasured, whole } from "./words.js";

const OVER = new Set(["succeeded", "failed", "stopped"]);
const LINKS = { job: "web.ray_job", cluster: "web.ray_cluster", logs: "web.ray_logs" };

export function drawHead(view) {
  say(byId("job"), view.job);
  const place = byId("state");
  if (place.dataset.state !== view.state) fill(place, stateBadge(view.state));
  place.dataset.state = view.state;
  say(byId("why"), view.reason && view.reason !== view.state ? tOr(`reason.${view.reason}`, view.reason) : "");
  show(byId("stop"), !OVER.has(view.state));
  show(byId("resume"), view.state === "failed" || view.state === "stopped");
  drawLinks(view.dashboard);
  drawProgress(view);
  keep(byId("tiles"), tiles(view), (one) => one.id, tile);
}

function drawLinks(dashboard) {
  const links = Object.entries(LINKS).filter(([name]) => dashboard[name]);
  keep(byId("dashboard"), links, ([name]) => name, remade(([name, id]) =>
    h("a", { href: dashboard[name], target: "_blank", rel: "noreferrer noopener" }, t(id))));
}

function drawProgress(view) {
  const share = view.step !== null && view.total_steps ? view.step / view.total_steps : null;
  say(byId("step"), view.step === null ? unmeasured() : number(view.step));
  say(byId("total"), view.total_steps === null ? t("web.of_unknown") : t("web.of", { total: view.total_steps }));
  say(byId("percent"), share === null ? "" : percent(share, 1));
  const bar = byId("bar");
  bar.setAttribute("aria-valuemax", view.total_steps ?? 0);
  bar.setAttribute("aria-valuenow", view.step ?? 0);
  bar.dataset.state = view.state;
  bar.firstElementChild.style.inlineSize = `${100 * Math.min(1, share ?? 0)}%`;
  say(byId("eta"), timeLeft(view));
}

function timeLeft({ eta, ended_ms, seen_ms }) {
  if (ended_ms !== null) return exact(ended_ms);
  if (eta === null) return "";
  const [low, mid, high] = [eta.low_s, eta.mid_s, eta.high_s].map(duration);
  const left = t("web.left", { mid });
  const spread = low === high ? "" : ` (${t("web.spread", { low, high })})`;
  return `${left}${spread} · ${t("web.done_at", { at: moment(Date.now() + 1000 * eta.mid_s) })}`;
}

function tiles(view) {
  const good = view.goodput;
  const open = view.alerts.filter((one) => one.until_ms === null).length;
  const elapsed = ((view.ended_ms ?? Date.now()) - view.created_ms) / 1000;
  return [
    { id: "reward", name: t("web.reward"), said: view.reward, text: number(view.reward), note: view.reward_name ?? "" },
    { id: "step_time", name: t("web.step_time"), said: view.step_s, text: duration(view.step_s), note: "" },
    { id: "per_hour", name: t("web.per_hour"), said: view.steps_per_hour, text: number(view.steps_per_hour, 3), note: "" },
    { id: "tokens", name: t("web.tokens"), said: view.tokens_per_npu_s, text: number(view.tokens_per_npu_s, 3), note: "" },
    { id: "goodput", name: t("web.goodput"), said: good?.share ?? null, text: percent(good?.share, 1), note: t("web.goodput_means") },
    { id: "elapsed", name: t("web.elapsed"), said: elapsed, text: duration(elapsed), note: exact(view.created_ms) },
    { id: "attempts", name: t("web.attempts"), said: 1, text: whole(view.attempts.length), note: "" },
    { id: "alerts", name: t("web.alerts"), said: 1, text: whole(open), note: "", mark: open ? "warn" : "" },
    { id: "care", name: t("web.care"), said: view.supervisor, text: view.supervisor ? t("web.cared") : t("web.nobody"), note: care(view), mark: view.supervisor || OVER.has(view.state) ? "" : "warn" },
  ];
}

const care = ({ supervisor }) => (supervisor ? t("web.supervisor", supervisor) : t("web.no_supervisor"));

function tile(one) {
  const text = h("dd");
  const element = h("div", { "data-tile": one.id }, h("dt", {}, one.name), text);
  const update = (now) => {
    say(text, now.text);
    element.title = now.note;
    text.className = now.said === null && now.id !== "care" ? "unmeasured" : now.mark ?? "";
  };
  return { element, update };
}

export function drawAlerts(view) {
  const open = view.alerts.filter((one) => one.until_ms === null);
  keep(byId("open-alerts"), open, (one) => one.number, remade(strip));
  const all = [...view.alerts].reverse();
  show(byId("no-alerts"), all.length === 0);
  show(byId("alerts-shown"), all.length > 0);
  const body = byId("alerts-shown").querySelector("tbody") ?? alertTable();
  keep(body, all, (one) => one.number, remade(alertRow));
}

function strip(one) {
  const fix = alertText(one, ".fix");
  return h("details.alert", { "data-severity": one.severity, "data-alert": one.id },
    h("summary", {}, h("b.mono", {}, one.id), h("span", {}, alertText(one)), one.node ? dim(one.node) : null),
    fix ? h("p", {}, h("b", {}, `${t("web.what_to_do")}: `), fix) : null);
}

function alertTable() {
  const body = h("tbody");
  byId("alerts-shown").append(table([[t("web.alert")], [t("web.severity")], [t("web.steps")], [t("web.when")], [t("web.what_to_do")]], body, "table.stacking.alerts"));
  return body;
}

function alertRow(one) {
  const isOpen = one.until_ms === null;
  const state = h(isOpen ? "span.warn" : "span.dim", { title: isOpen ? exact(one.since_ms) : exact(one.until_ms) },
    isOpen ? `${t("web.open_now")} ${t("web.since")} ${moment(one.since_ms)}` : `${t("web.passed")} · ${ago(one.until_ms)}`);
  const steps = one.first_step === null ? value(null) : `${number(one.first_step)}–${number(one.last_step)}`;
  return h("tr", { "data-severity": one.severity },
    cell(t("web.alert"), [h("b.mono", {}, one.id), " ", alertText(one)], "wraps"),
    cell(t("web.severity"), h("span.severity", { "data-severity": one.severity }, t(`web.severity.${one.severity}`))),
    cell(t("web.steps"), steps, "nowrap"), cell(t("web.when"), state, "nowrap"),
    cell(t("web.what_to_do"), alertText(one, ".fix"), "wraps"));
}
