// One WebSocket: what the page watches is pushed to it. It comes back by itself, and says while it is away.

import { byId, say } from "./dom.js";
import { t } from "./words.js";

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

export class Live {
  #watched = new Map();
  #socket = null;
  #waitMs = FIRST_WAIT_MS;
  #wasOpen = false;
  #timer = 0;
  #onReturn = [];

  /** `handle(message)` gets every message of that kind. */
  watch(key, handle) {
    this.#watched.set(JSON.stringify(key), { key, handle });
    if (this.#socket?.readyState === WebSocket.OPEN) this.#ask(key);
  }

  /** When a connection is there again after it was lost: what came meanwhile has to be read. */
  onReturn(handle) {
    this.#onReturn.push(handle);
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.#socket = new WebSocket(`${scheme}//${location.host}/live`);
    this.#socket.addEventListener("open", () => this.#opened());
    this.#socket.addEventListener("message", (event) => this.#deliver(JSON.parse(event.data)));
    this.#socket.addEventListener("close", () => this.#closed());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.#atOnce(); });
    addEventListener("online", () => this.#atOnce());
  }

  #opened() {
    this.#waitMs = FIRST_WAIT_MS;
    for (const { key } of this.#watched.values()) this.#ask(key);
    if (this.#wasOpen) for (const handle of this.#onReturn) handle();
    this.#wasOpen = true;
    state("live");
  }

  #closed() {
    state("offline");
    const wait = this.#waitMs * (0.7 + 0.6 * Math.random());
    this.#waitMs = Math.min(2 * this.#waitMs, LONGEST_WAIT_MS);
    this.#timer = setTimeout(() => this.#again(), wait);
  }

  #again() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.open();
  }

  #atOnce() {
    if (this.#timer) this.#again();
  }

  #ask(key) {
    this.#socket.send(JSON.stringify({ watch: key }));
  }

  #deliver(message) {
    for (const { key, handle } of this.#watched.values()) if (key[0] === message.kind) handle(message);
  }
}

function state(now) {
  const link = byId("link");
  link.dataset.state = now;
  say(link.querySelector(".said"), t(`web.${now}`));
}

export class Unread extends Error {}

/** JSON of this server; a session that has ended leads to the login. Unread: with the server's own words. */
export async function read(path) {
  let answer;
  try {
    answer = await (early(path) ?? fetch(path, { headers: { accept: "application/json" } }));
  } catch {
    throw new Unread(t("web.lost_connection"));
  }
  if (answer.status === 401) location.assign("/login");
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Unread(body.error ?? `${answer.status}`);
  return body;
}

function early(path) {
  const answer = window.early?.get(path);
  window.early?.delete(path);
  return answer;
}
