// Forms that change something: asked about in a dialog first, then sent, and the answer told.

import { byId, h, say } from "./dom.js";
import { t } from "./words.js";

const TOLD_MS = 8_000;

/** Once for the page: forms with `data-sure` are asked about. What was done is a `changed` of the document. */
export function askBeforeSending() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.sure) return;
    event.preventDefault();
    ask(form.dataset.sure).then((isSure) => { if (isSure) send(form); });
  });
}

function ask(question) {
  const dialog = byId("sure");
  say(byId("sure-question"), question);
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((answer) => {
    dialog.addEventListener("close", () => answer(dialog.returnValue === "yes"), { once: true });
  });
}

async function send(form) {
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const headers = { accept: "application/json" };
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), headers });
    if (answer.status === 401) location.assign("/login");
    const said = await answer.json().catch(() => ({ ok: false, message: `${answer.status}` }));
    tell(said.message, said.ok);
    if (said.ok) document.dispatchEvent(new Event("changed"));
  } catch {
    tell(t("web.lost_connection"), false);
  } finally {
    button.disabled = false;
  }
}

export function tell(message, isGood) {
  const line = h(isGood ? "p.good" : "p.bad", {}, message);
  byId("told").append(line);
  setTimeout(() => line.remove(), TOLD_MS);
}
