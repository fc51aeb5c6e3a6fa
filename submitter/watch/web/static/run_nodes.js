// The nodes of the newest attempt, as they measured themselves last.

import { byId, cell, h, keep, remade, show, table } from "./dom.js";
import { NODE_HEADS, nodeCells } from "./parts.js";
import { ago, exact, t } from "./words.js";

const NUMBERS = new Set(["power", "cpu", "load"]);

export function drawNodes(view) {
  show(byId("no-nodes"), view.nodes.length === 0);
  show(byId("nodes-shown"), view.nodes.length > 0);
  drawInto(byId("nodes-shown"), view.nodes, NODE_HEADS);
}

/** `heads`: the columns. */
export function drawInto(place, nodes, heads) {
  const body = place.querySelector("tbody") ?? newTable(place, heads);
  keep(body, nodes, (one) => `${one.run ?? ""} ${one.node}`, remade((one) => row(one, heads)));
}

function newTable(place, heads) {
  const body = h("tbody");
  place.append(table(heads.map((name) => [t(`web.${name}`), NUMBERS.has(name) ? "number" : ""]), body, "table.stacking.nodes"));
  return body;
}

function row(node, heads) {
  const cells = nodeCells(node, (ms) => h("span.dim", { title: exact(ms) }, ago(ms)));
  return h("tr", { "data-node": node.node },
    ...heads.map((name) => cell(t(`web.${name}`), cells[name], NUMBERS.has(name) ? "number" : name)));
}
