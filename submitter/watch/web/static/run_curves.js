// The curves of a run: six at first, any others as chosen; new steps are added to what is there.

import { byId, fill, h, remember, say, setting, show } from "./dom.js";
import { Chart, Range } from "./chart.js";
import { read } from "./live.js";
import { t } from "./words.js";

const MOST = 24;
const POINTS = 2_000;
const POINTS_KEPT = 4_000;
const LOOK_AFTER_MS = 120;
const CHOSEN_KEY = "npurun-curves";

/** Without names: the default curves, as the page asks for them early. */
const query = (names, more) =>
  new URLSearchParams([...Object.entries({ points: POINTS, ...more }), ...names.map((name) => ["name", name])]);

export class Curves {
  attempts = [];
  #run; #keys; #names = []; #charts = new Map(); #size = 0; #reading = null; #again = false; #timer = 0;

  /** `keys`: the names of each default curve, the first that the run logs counts. */
  constructor(run, keys) {
    this.#run = run;
    this.#keys = keys;
    this.range = new Range((bounds) => { show(byId("whole"), bounds !== null); this.#look(); });
    byId("whole").addEventListener("click", () => this.range.set(null));
    byId("choose").addEventListener("click", () => this.#openPicker());
    byId("picker-filter").addEventListener("input", () => this.#drawPicker());
    byId("picker-defaults").addEventListener("click", () => { this.#choose(null); this.#drawPicker(); });
  }

  /** All names that the run logs. */
  async begin(names) {
    this.#names = names;
    show(byId("no-curves"), names.length === 0);
    show(byId("choose"), names.length > 0);
    await this.#arrange();
  }

  get hasNames() { return this.#names.length > 0; }

  /** New steps, or after a pause. */
  async refresh() {
    if (this.#reading) { this.#again = true; return; }
    this.#reading = this.#readNew();
    await this.#reading.finally(() => { this.#reading = null; });
    if (this.#again) { this.#again = false; await this.refresh(); }
  }

  #defaults() {
    return Object.values(this.#keys).map((wanted) => wanted.find((name) => this.#names.includes(name))).filter(Boolean);
  }

  #chosen() {
    const kept = setting(CHOSEN_KEY, null)?.filter((name) => this.#names.includes(name));
    return kept?.length ? kept.slice(0, MOST) : this.#defaults();
  }

  #choose(names) {
    remember(CHOSEN_KEY, names);
    return this.#arrange();
  }

  async #arrange() {
    const names = this.#chosen();
    for (const [name, chart] of this.#charts) if (!names.includes(name)) { chart.remove(); this.#charts.delete(name); }
    const fresh = names.filter((name) => !this.#charts.has(name));
    for (const name of fresh) this.#charts.set(name, new Chart(name, this.#title(name), this.range, (one) => this.#without(one)));
    byId("charts").append(...names.map((name) => this.#charts.get(name).element));
    if (!fresh.length) return;
    const isFirst = !this.#size && fresh.join() === this.#defaults().join();
    const found = await this.#read(isFirst ? [] : fresh, this.#window());
    for (const name of fresh) this.#set(found, name);
    for (const name of fresh) this.#charts.get(name)?.draw();
    this.#size = this.#size ? Math.min(this.#size, found.size) : found.size;
    this.#mark(found);
  }

  #title(name) {
    const key = Object.keys(this.#keys).find((one) => this.#keys[one].includes(name));
    return key ? t(`web.curve.${key}`) : "";
  }

  #without(name) { return this.#choose(this.#chosen().filter((one) => one !== name)); }

  #read(names, more) {
    return read(`/api/run/${encodeURIComponent(this.#run)}/series?${query(names, more)}`);
  }

  #set(found, name) {
    this.#charts.get(name)?.set(found.names[name] ?? { step: [], value: [] }, found.void[name] ?? [], found.attempts);
  }

  async #readNew() {
    const names = [...this.#charts.keys()];
    if (!names.length) return;
    const isFull = Math.max(...[...this.#charts.values()].map((one) => one.points)) > POINTS_KEPT;
    const found = await this.#read(names, this.range.bounds || isFull ? this.#window() : { after: this.#size });
    for (const name of names) {
      if (found.reset) this.#set(found, name);
      else if (found.names[name]) this.#charts.get(name)?.add(found.names[name]);
    }
    this.#size = found.size;
    if (found.reset) this.#mark(found);
  }

  /** A stretch is read anew, with more of its points. */
  #look() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      const found = await this.#read([...this.#charts.keys()], this.#window());
      for (const name of this.#charts.keys()) if (found.names[name]) this.#set(found, name);
    }, LOOK_AFTER_MS);
  }

  #window() {
    const [from, to] = this.range.bounds ?? [];
    return from === undefined ? {} : { from: Math.max(0, Math.floor(from)), to: Math.max(0, Math.ceil(to)) };
  }

  #mark(found) {
    this.attempts = found.attempts;
    const isAgain = Object.values(found.void).some((parts) => parts.length);
    const begins = found.attempts.length > 1 ? h("span.key.begins", {}, t("web.begins")) : null;
    fill(byId("marks"), begins, isAgain ? h("span.key.again", {}, t("web.again")) : null);
  }

  #openPicker() {
    byId("picker-filter").value = "";
    this.#drawPicker();
    byId("picker").showModal();
    byId("picker-filter").focus();
  }

  #drawPicker() {
    const text = byId("picker-filter").value.trim().toLowerCase();
    const chosen = this.#chosen();
    const groups = Map.groupBy ? Map.groupBy(this.#names.filter((one) => one.toLowerCase().includes(text)), prefix) : new Map();
    const shown = [...groups].sort(([one], [other]) => one.localeCompare(other));
    fill(byId("picker-names"), ...shown.map(([group, names]) => this.#group(group, names, chosen)));
    say(byId("picker-count"), t("web.chosen", { n: chosen.length, most: MOST }));
  }

  #group(group, names, chosen) {
    const boxes = names.sort().map((name) => {
      const box = h("input", { type: "checkbox", onchange: () => this.#tick(name, box.checked) });
      box.checked = chosen.includes(name);
      box.disabled = !box.checked && chosen.length >= MOST;
      return h("label.check", {}, box, h("span.mono", {}, name));
    });
    return h("fieldset", {}, h("legend", {}, group), ...boxes);
  }

  #tick(name, isOn) {
    const rest = this.#chosen().filter((one) => one !== name);
    this.#choose(isOn ? [...rest, name] : rest);
    say(byId("picker-count"), t("web.chosen", { n: this.#chosen().length, most: MOST }));
  }
}

const prefix = (name) => (name.includes("/") ? name.split("/")[0] : t("web.other_names"));
