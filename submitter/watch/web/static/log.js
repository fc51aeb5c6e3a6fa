// An attempt's log: its end, followed; the lines that hold a text; the lines around one. All of it as text.
import { fill, getJson, make, t } from "./common.js";

const LINES_MOST = 2000;
const CONTROL = /\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]/g;

export class LogView {
  constructor(run, element) {
    this.run = run;
    this.element = element;
    this.attempt = null;
    this.following = true;
    this.atEnd = false;
  }

  path(attempt, query) {
    return `/api/run/${encodeURIComponent(this.run)}/attempts/${attempt}/log?${query}`;
  }

  async read(attempt, query) {
    this.attempt = attempt;
    this.element.textContent = t("web.reading");
    const found = await getJson(this.path(attempt, query));
    if (found.error) { this.element.textContent = found.error; return null; }
    return found;
  }

  async show(attempt, following) {
    this.following = following;
    const found = await this.read(attempt, "tail=400");
    this.atEnd = found !== null;
    if (found) this.draw(found, null);
    this.element.scrollTop = this.element.scrollHeight;
  }

  async find(attempt, text) {
    if (!text.trim()) return this.show(attempt, this.following);
    this.atEnd = false;
    const found = await this.read(attempt, `find=${encodeURIComponent(text)}`);
    if (found) this.draw(found, text);
    return undefined;
  }

  async jump(attempt, text) {
    this.atEnd = false;
    const found = await this.read(attempt, `find=${encodeURIComponent(text)}`);
    if (!found) return;
    const first = found.lines[0]?.[0];
    if (first) await this.around(attempt, first);
    else this.element.textContent = t("web.no_lines");
  }

  async around(attempt, line) {
    this.atEnd = false;
    const found = await this.read(attempt, `line=${line}`);
    if (!found) return;
    this.draw(found, null, line);
    this.element.querySelector(".hit")?.scrollIntoView({ block: "center" });
  }

  draw(found, text, hit = null) {
    const lines = found.lines.map(([number, line]) => this.line(number, line, number !== null && number === hit, text !== null));
    fill(this.element, ...(lines.length ? lines : [t("web.no_lines")]));
    if (found.cut) this.element.append(make("div", { class: "faint" }, t("web.cut")));
  }

  line(number, text, hit, leads) {
    const at = number === null ? null : make("span", { class: "at" }, String(number));
    const element = make("div", { class: hit ? "hit" : "" }, at, text.replace(CONTROL, ""));
    if (leads && at) { at.style.cursor = "pointer"; at.onclick = () => this.around(this.attempt, number); }
    return element;
  }

  more(message) {
    if (!this.atEnd || !this.following || message.attempt !== this.attempt || !message.lines.length) return;
    const bottom = this.element.scrollHeight - this.element.scrollTop - this.element.clientHeight < 40;
    this.element.append(...message.lines.map((line) => this.line(null, line, false, false)));
    while (this.element.childElementCount > LINES_MOST) this.element.firstElementChild.remove();
    if (bottom) this.element.scrollTop = this.element.scrollHeight;
  }
}
