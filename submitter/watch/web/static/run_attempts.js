// The attempts of a run: where the time went, why each ended, what shows it, and what was decided.

import { byId, cell, fill, h, keep, remade, table } from "./dom.js";
import { dim, stateBadge, value } from "./parts.js";
import { duration, exact, moment, number, t, tOr } from "./words.js";

const SPENT = ["waiting_s", "start_s", "useful_s", "again_s", "between_s", "after_s"];
const DRIVER = "driver";

export class Attempts {
  #jump;

  /** `jump(attempt, line)` shows the line in the log. */
  constructor(jump) {
    this.#jump = jump;
    const keys = SPENT.filter((name) => name !== "waiting_s").map((name) => h("span.key", {}, h(`i.patch.${name}`), t(`web.spent.${name}`)));
    fill(byId("spent-legend"), ...keys);
  }

  draw(view) {
    drawTimeline(view);
    const newestFirst = [...view.attempts].reverse();
    keep(this.#body(), newestFirst.map((one) => ({ ...one, spent: undefined, lasted: lasted(one), lost: lost(one) })), (one) => one.attempt, remade((one) => this.#row(one)));
  }

  #body() {
    const place = byId("attempts-shown");
    if (!place.firstChild) {
      const heads = ["attempt", "state", "steps", "lasted", "reason", "decision"].map((name) => [t(`web.${name}`)]);
      place.append(table(heads, h("tbody"), "table.stacking.attempts"));
    }
    return place.querySelector("tbody");
  }

  #row(one) {
    const began = one.started_ms ?? one.posted_ms;
    return h("tr", { "data-attempt": one.attempt },
      cell(t("web.attempt"), [h("b", {}, `a${one.attempt}`), " ", h("span.dim", { title: began === null ? null : exact(began) }, began === null ? "" : moment(began))], "nowrap"),
      cell(t("web.state"), stateBadge(one.state)),
      cell(t("web.steps"), stepsOf(one)),
      cell(t("web.lasted"), [one.lasted, one.lost && h("div.dim", {}, `${t("web.lost")}: ${one.lost}`)].filter(Boolean), "nowrap"),
      cell(t("web.reason"), this.#reason(one), "wraps"),
      cell(t("web.decision"), decision(one), "wraps"));
  }

  #reason(one) {
    if (one.reason === null) return dim("–");
    const word = h("span", {}, tOr(`reason.${one.reason}`, one.reason), " ", h("code", { title: tOr(`reason.${one.reason}.means`, "") }, one.reason));
    const node = one.node ? [" ", h("span.mono", {}, one.node)] : [];
    return [word, ...node, ...one.evidence.map((line) => this.#evidence(one, line))];
  }

  #evidence(one, line) {
    const text = h("q.evidence.mono", {}, line.text);
    if (line.file !== DRIVER || !line.line) return h("div.proof", {}, text, dim(` ${line.file}:${line.line ?? ""}`));
    const label = `${t("web.to_log")}: a${one.attempt}, ${line.line}`;
    return h("div.proof", {}, text, h("button.link-like", { type: "button", "aria-label": label, onclick: () => this.#jump(one.attempt, line.line) }, t("web.to_log")));
  }
}

function lasted(one) {
  const began = one.started_ms ?? one.posted_ms;
  if (began === null) return value(null).textContent;
  if (one.ended_ms === null) return "…";
  return duration((one.ended_ms - began) / 1000);
}

/** What an undisturbed run would not have spent; "" while the attempt goes on. */
function lost({ ended_ms, spent }) {
  if (ended_ms === null || spent === null) return "";
  return duration(spent.waiting_s + spent.start_s + spent.again_s + spent.after_s);
}

function stepsOf(one) {
  const from = one.resumed_from === null ? t("web.from_start") : t("web.from_checkpoint", { n: one.resumed_from });
  const span = one.first_step === null ? value(null) : h("span", {}, `${number(one.first_step)}–${number(one.last_step)}`);
  const again = one.void_steps ? h("div.again", {}, t("web.steps_again", { n: one.void_steps })) : null;
  return [span, h("div.dim", {}, from), again].filter(Boolean);
}

function decision(one) {
  const changes = one.changes.map((change) => h("div.mono.change", {}, `+ ${change}`));
  if (!one.decision) return changes.length ? changes : dim("–");
  const { why, values } = one.decision;
  return [h("span", {}, tOr(`decide.${why}`, why, values)), ...changes];
}

/** One bar over the run's wall time: parts of each attempt side by side, as long as they took. */
function drawTimeline({ goodput }) {
  const place = byId("timeline");
  const parts = goodput === null ? [] : goodput.attempts.flatMap((one) =>
    SPENT.map((name) => ({ attempt: one.attempt, name, seconds: one[name] })).filter((part) => part.seconds > 0));
  if (goodput?.idle_s > 0) parts.push({ attempt: null, name: "idle_s", seconds: goodput.idle_s });
  keep(place, parts, (part) => `${part.attempt} ${part.name}`, segment);
}

function segment(part) {
  const isFirst = part.name === "start_s";
  const element = h(`span.${part.name}`, { role: "img" }, isFirst ? h("b", {}, `a${part.attempt}`) : null);
  return { element, update: (now) => {
    element.style.flexGrow = now.seconds;
    const label = `${now.attempt === null ? "" : `a${now.attempt} · `}${t(`web.spent.${now.name}`)}: ${duration(now.seconds)}`;
    element.title = label;
    element.setAttribute("aria-label", label);
  } };
}
