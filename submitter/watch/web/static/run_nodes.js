// The nodes of the newest attempt, as they measured themselves last.

import { byId, cell, h, keep, remade, show, table } from "./dom.js";
import { NODE_HEADS, nodeCells } from "./parts.js";
import { ago, exact, t } from "./words.js";

const NUMBERS = new Set(["power", "cpu", "load"]);

export function drawNodes(view) {
  show(byId("no-nodes"), view.nodes.length === 0);
  show(byId("nodes-shown"), view.nodes.length > 0);
  drawInto(byId("nodes-shown"), view.nodes);
}

export function drawInto(place, nodes) {
  const body = place.querySelector("tbody") ?? newTable(place);
  keep(body, nodes, (one) => `${one.run ?? ""} ${one.node}`, remade(row));
}

function newTable(place) {
  const body = h("tbody");
  place.append(table(NODE_HEADS.map((name) => [t(`web.${name}`), NUMBERS.has(name) ? "number" : ""]), body, "table.stacking.nodes"));
  return body;
}

function row(node) {
  const cells = nodeCells(node, (ms) => h("span.dim", { title: exact(ms) }, ago(ms)));
  return h("tr", { "data-node": node.node },
    ...NODE_HEADS.map((name) => cell(t(`web.${name}`), cells[name], NUMBERS.has(name) ? "number" : name)));
}
