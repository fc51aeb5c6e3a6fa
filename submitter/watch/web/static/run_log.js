// An attempt's log as it lies on the cluster: its end, followed; what a search finds; the lines around one.

import { byId, fill, h, say } from "./dom.js";
import { read } from "./live.js";
import { attemptChoice, whenSeen } from "./run_facts.js";
import { t } from "./words.js";

const LINES_KEPT = 5_000;
const AT_END_PX = 40;
const ESCAPES = /\x1b\[[0-9;?]*[ -/]*[@-~]/g;
const LEVELS = [["bad", /\b(error|exception|traceback|fatal)\b|\[ERROR\]/i], ["warn", /\bwarn(ing)?\b/i], ["ours", /^\[npurun\]/], ["step", /\bstep:\d+ - /]];

export class Log {
  #run; #live; #select = byId("log-attempt"); #lines = byId("log-lines"); #isSeen = false; #mode = "end"; #asked = 0; #followed = new Set(); #open = new Set(); #atEnd = null;

  constructor(run, live) {
    [this.#run, this.#live] = [run, live];
    this.#select.addEventListener("change", () => this.#end());
    byId("log-newest").addEventListener("click", () => this.#end());
    byId("log-follow").addEventListener("change", () => this.#toEnd());
    byId("log-find").addEventListener("submit", (event) => { event.preventDefault(); this.#find(byId("log-text").value.trim()); });
    whenSeen(byId("log"), () => { this.#isSeen = true; if (this.#mode === "end") this.#end(); });
  }

  draw(view) {
    this.#open = new Set(view.attempts.filter((one) => one.ended_ms === null).map((one) => String(one.attempt)));
    attemptChoice(this.#select, view.attempts, () => this.#end());
  }

  /** Shows the line in the log. */
  async jump(attempt, line) {
    this.#select.value = attempt;
    this.#mode = "around";
    byId("log").scrollIntoView();
    await this.#around(line);
  }

  async #around(line) {
    const found = await this.#read("around", { line });
    if (!found) return;
    this.#draw(found.lines, { line });
    this.#said(t("web.around", { n: line }), found.cut);
    const target = this.#lines.querySelector("[aria-current]");
    target?.scrollIntoView({ block: "nearest" });
    if (target) this.#lines.scrollTop = target.offsetTop - this.#lines.clientHeight / 2;
    this.#lines.focus({ preventScroll: true });
  }

  async #end() {
    if (!this.#isSeen || !this.#select.value) return;
    this.#follow(this.#select.value);
    const found = await this.#read("end", {});
    if (!found) return;
    this.#draw(found.lines, {});
    this.#atEnd = found.lines.map(([, said]) => said);
    this.#said(t("web.at_end", { n: found.lines.length }), found.cut);
    this.#lines.scrollTop = this.#lines.scrollHeight;
  }

  async #find(text) {
    if (!text) { await this.#end(); return; }
    const found = await this.#read("found", { find: text });
    if (!found) return;
    this.#draw(found.lines, { text, jumps: true });
    this.#said(t("web.found", { n: found.lines.length, text }), found.cut);
  }

  /** null: something else was asked for meanwhile, or it could not be read, which is told. */
  async #read(mode, query) {
    this.#mode = mode;
    const asked = (this.#asked += 1);
    say(byId("log-said"), t("web.reading"));
    const attempt = this.#select.value;
    const found = await read(`/api/run/${encodeURIComponent(this.#run)}/attempts/${attempt}/log?${new URLSearchParams(query)}`)
      .catch((error) => ({ error: error.message }));
    if (asked !== this.#asked) return null;
    if (found.error) { this.#draw([], {}); say(byId("log-said"), found.error); return null; }
    return found;
  }

  #said(text, isCut) {
    const none = this.#lines.firstChild ? "" : `${t("web.no_lines")} `;
    say(byId("log-said"), `${none}${text}${isCut ? ` · ${t("web.cut")}` : ""}`);
  }

  #draw(lines, { text, line, jumps }) {
    fill(this.#lines, ...lines.map(([number, said]) => this.#line(number, said, { text, line, jumps })));
  }

  #line(number, said, { text, line, jumps } = {}) {
    const plain = said.replace(ESCAPES, "");
    const place = jumps ? h("button.place", { type: "button", onclick: () => this.#around(number) }, String(number)) : h("span.place", {}, number === null ? "" : String(number));
    const level = LEVELS.find(([, pattern]) => pattern.test(plain))?.[0];
    const content = h(level ? `span.said.${level}` : "span.said", {}, ...marked(plain, text));
    return h("div.line", { "aria-current": line === number && number !== undefined ? "true" : null }, place, content);
  }

  #follow(attempt) {
    if (this.#followed.has(attempt) || !this.#open.has(attempt)) return;
    this.#followed.add(attempt);
    this.#live.watch(["log", this.#run, Number(attempt)], (message) => this.#came(message));
  }

  #came(message) {
    if (this.#mode !== "end" || message.run !== this.#run || String(message.attempt) !== this.#select.value) return;
    const isAtEnd = this.#lines.scrollHeight - this.#lines.scrollTop - this.#lines.clientHeight < AT_END_PX;
    const lines = this.#atEnd ? unseen(this.#atEnd, message.lines) : message.lines;
    if (message.lines.length) this.#atEnd = null;
    this.#lines.append(...lines.map((line) => this.#line(null, line)));
    while (this.#lines.childElementCount > LINES_KEPT) this.#lines.firstChild.remove();
    if (isAtEnd) this.#toEnd();
  }

  #toEnd() {
    if (byId("log-follow").checked && this.#mode === "end") this.#lines.scrollTop = this.#lines.scrollHeight;
  }
}

/** The text in pieces, what was searched for marked. */
function marked(said, text) {
  if (!text) return [said];
  const [lower, wanted] = [said.toLowerCase(), text.toLowerCase()];
  const pieces = [];
  let begin = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, begin)) {
    pieces.push(said.slice(begin, at), h("mark", {}, said.slice(at, at + wanted.length)));
    begin = at + wanted.length;
  }
  return [...pieces, said.slice(begin)];
}

/** Of the lines that came, those after the end that was read: both are pieces of one log, read at about one time. */
function unseen(read, came) {
  for (let end = came.length; end > 0; end -= 1) if (endsWith(read, came.slice(0, end))) return came.slice(end);
  const isOlder = read.some((_, place) => place >= came.length && endsWith(read.slice(0, place), came));
  return isOlder ? [] : came;
}

function endsWith(lines, part) {
  const many = Math.min(lines.length, part.length);
  return many > 0 && part.slice(-many).every((line, place) => line === lines[lines.length - many + place]);
}
