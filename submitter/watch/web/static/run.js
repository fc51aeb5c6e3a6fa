// One run: every part of the page is drawn from one view, which comes again whenever it has changed.

import { byId } from "./dom.js";
import { askBeforeSending } from "./forms.js";
import { Live, Unread, read } from "./live.js";
import { Attempts } from "./run_attempts.js";
import { Curves } from "./run_curves.js";
import { Facts } from "./run_facts.js";
import { drawAlerts, drawHead } from "./run_head.js";
import { Log } from "./run_log.js";
import { drawNodes } from "./run_nodes.js";
import { Phases } from "./run_phases.js";
import { useWords } from "./words.js";

const CLOCK_EVERY_MS = 5_000;

const { run, curves: keys } = byId("content").dataset;
const path = `/api/run/${encodeURIComponent(run)}`;
const [words, view, names] = await Promise.all(["/texts.json", path, `${path}/metrics`].map(read));
useWords(words);

askBeforeSending();
const live = new Live();
const curves = new Curves(run, JSON.parse(keys));
const phases = new Phases(run, curves.range, () => curves.attempts);
const log = new Log(run, live);
const attempts = new Attempts((attempt, line) => log.jump(attempt, line));
const facts = new Facts(run);
let shown = view;

function draw(now) {
  drawHead(now);
  drawAlerts(now);
  drawNodes(now);
  attempts.draw(now);
  facts.draw(now);
  log.draw(now);
  document.title = now.step === null ? `${now.run} · npurun` : `${now.step} · ${now.run} · npurun`;
}

const trained = (one) => `${one.step}/${one.attempts.map((attempt) => [attempt.attempt, attempt.resumed_from, attempt.void_steps])}`;

async function take(now) {
  const before = shown;
  shown = now;
  draw(now);
  if (trained(before) !== trained(now)) await refresh();
}

async function refresh() {
  if (curves.hasNames) await Promise.all([curves.refresh(), phases.refresh(shown)]);
  else await begin(await read(`${path}/metrics`));
}

async function begin(found) {
  await curves.begin(found);
  performance.mark("curves-drawn");
  await phases.refresh(shown);
}

draw(view);
await begin(names);
live.watch(["run", run], (message) => { if (message.run === run) take(message.view).catch(away); });
const readAnew = () => read(path).then(take).catch(away);
live.onReturn(readAnew);
document.addEventListener("changed", readAnew);
live.open();
setInterval(() => drawHead(shown), CLOCK_EVERY_MS);

/** The connection says so by itself, and reads on when it is back. */
function away(error) {
  if (!(error instanceof Unread)) throw error;
}
