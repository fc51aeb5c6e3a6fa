// What each attempt was started with, and what is other than in the attempt before.

import { byId, cell, fill, h, table } from "./dom.js";
import { read } from "./live.js";
import { t, tOr } from "./words.js";

const SECTIONS = ["arguments", "environment", "versions"];

/** A select that has one entry for each attempt, the newest chosen at first and as long as nobody chooses another. */
export function attemptChoice(select, attempts, onNewest) {
  if (select.options.length === attempts.length) return;
  const isNewest = select.selectedIndex <= 0;
  const chosen = select.value;
  fill(select, ...[...attempts].reverse().map((one) => h("option", { value: one.attempt }, `a${one.attempt}`)));
  if (isNewest) onNewest();
  else select.value = chosen;
}

export class Facts {
  #run; #select = byId("facts-attempt"); #found = null; #isSeen = false;

  constructor(run) {
    this.#run = run;
    this.#select.addEventListener("change", () => this.#read());
    byId("facts-filter").addEventListener("input", () => this.#draw());
    whenSeen(byId("facts"), () => { this.#isSeen = true; this.#read(); });
  }

  draw(view) {
    attemptChoice(this.#select, view.attempts, () => this.#read());
  }

  async #read() {
    if (!this.#isSeen || !this.#select.value) return;
    const attempt = this.#select.value;
    try {
      this.#found = { attempt, ...await read(`/api/run/${encodeURIComponent(this.#run)}/attempts/${attempt}/facts`) };
    } catch (error) {
      fill(byId("facts-shown"), h("p.card.empty", {}, error.message));
      return;
    }
    if (attempt === this.#select.value) this.#draw();
  }

  #draw() {
    if (!this.#found) return;
    const text = byId("facts-filter").value.trim().toLowerCase();
    fill(byId("facts-shown"), this.#differences(text), ...SECTIONS.map((name) => this.#section(name, text)));
  }

  #differences(text) {
    const { differences, attempt } = this.#found;
    const shown = differences.filter((one) => one.section !== "outcome" && matches([one.key, one.left, one.right], text));
    const empty = Number(attempt) === 1 ? t("web.first_attempt") : t("web.same", { n: attempt - 1 });
    const heads = ["section", "key", "before", "now"].map((name) => t(`web.${name}`));
    const rows = shown.map((one) => h("tr", {},
      cell(heads[0], tOr(`web.section.${one.section}`, one.section), "dim"), cell(heads[1], one.key, "mono wraps"),
      cell(heads[2], one.left ?? "–", "mono old"), cell(heads[3], one.right ?? "–", "mono new")));
    return h("div.card.flush.differences", {}, h("h3", {}, t("web.differences")), rows.length ? table(heads.map((head) => [head]), rows, "table.pairs.stacking") : h("p.empty", {}, empty));
  }

  #section(name, text) {
    const pairs = this.#found[name];
    const count = h("span.dim", {}, pairs ? String(Object.keys(pairs).length) : "");
    const shown = Object.entries(pairs ?? {}).filter((pair) => matches(pair, text)).sort(([one], [other]) => one.localeCompare(other));
    const rows = shown.map(([key, value]) => h("tr", {}, h("th.mono", { scope: "row" }, key), h("td.mono", {}, String(value))));
    const body = pairs === null ? h("p.empty", {}, t("web.unknown")) : h("table.pairs", {}, h("tbody", {}, ...rows));
    return h("details.card.flush", { open: "" }, h("summary", {}, h("h3", {}, t(`web.${name}`)), " ", count), body);
  }
}

const matches = (texts, wanted) => !wanted || texts.some((text) => String(text ?? "").toLowerCase().includes(wanted));

export function whenSeen(element, act) {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    act();
  }, { rootMargin: "300px" });
  observer.observe(element);
}
