// Clusters that runs are on: their nodes as they measured themselves, and nodes that are left out.

import { byId, cell, h, keep, remade, say, show, table } from "./dom.js";
import { askBeforeSending } from "./forms.js";
import { Live, read } from "./live.js";
import { drawInto } from "./run_nodes.js";
import { NODE_HEADS } from "./parts.js";
import { ago, exact, useWords, moment, t } from "./words.js";

const HEADS = ["node", "run", ...NODE_HEADS.filter((name) => name !== "node" && name !== "load")];

function section(cluster) {
  const links = h("span.runs");
  const nodes = h("div.card.flush.scrolls");
  const none = h("p.card.empty", {}, t("web.no_nodes"));
  const left = h("div");
  const ray = cluster.dashboard ? h("a.ray", { href: cluster.dashboard, target: "_blank", rel: "noreferrer noopener" }, t("web.ray_cluster")) : null;
  const element = h("section.cluster", { "data-address": cluster.address },
    h("div.sub", {}, h("h2.mono", {}, cluster.address), ray, h("span.grow"), links), nodes, none, left);
  return { element, update: (now) => update({ links, nodes, none, left }, now) };
}

function update({ links, nodes, none, left }, cluster) {
  keep(links, cluster.runs, (run) => run, remade((run) => h("a.mono", { href: `/run/${encodeURIComponent(run)}` }, run)));
  show(nodes, cluster.nodes.length > 0);
  show(none, cluster.nodes.length === 0);
  drawInto(nodes, cluster.nodes, HEADS);
  drawQuarantine(left, cluster);
}

function drawQuarantine(place, cluster) {
  show(place, cluster.quarantine.length > 0);
  if (!place.firstChild) {
    const heads = ["node", "why", "attempt", "until"].map((name) => [t(`web.${name}`)]);
    place.append(h("div.sub", {}, h("h3", {}, t("web.quarantine"))), h("div.card.flush", {}, table([...heads, [t("web.release")]], h("tbody"), "table.stacking.quarantine")));
  }
  keep(place.querySelector("tbody"), cluster.quarantine, (one) => `${one.node} ${one.finding} ${one.attempt}`, remade((one) => quarantined(one, cluster.address)));
}

function quarantined(one, address) {
  return h("tr", { "data-node": one.node },
    cell(t("web.node"), h("b.mono", {}, one.node)),
    cell(t("web.why"), [one.why, " ", h("code", {}, one.finding)], "wraps"),
    cell(t("web.attempt"), [h("span.mono", {}, one.attempt), " ", h("span.dim", { title: exact(one.since_ms) }, ago(one.since_ms))]),
    cell(t("web.until"), h("span", { title: exact(one.until_ms) }, moment(one.until_ms)), "nowrap"),
    cell("", release(one.node, address)));
}

function release(node, address) {
  const hidden = { csrf: document.body.dataset.csrf, back: "/cluster", node, address };
  const inputs = Object.entries(hidden).map(([name, value]) => h("input", { type: "hidden", name, value }));
  return h("form", { method: "post", action: "/nodes/release", "data-sure": `${node}: ${t("web.release_sure")}` },
    ...inputs, h("button", { "aria-label": `${t("web.release")} ${node}` }, t("web.release")));
}

function draw(clusters) {
  show(byId("reading"), false);
  show(byId("no-clusters"), clusters.length === 0);
  keep(byId("clusters"), clusters, (one) => one.address, section);
}

useWords(await read("/texts.json"));
askBeforeSending();
const live = new Live();
const readAll = () => read("/api/cluster").then(draw, (error) => say(byId("reading"), error.message));
live.watch(["cluster"], (message) => draw(message.clusters));
live.onReturn(readAll);
live.open();
document.addEventListener("changed", readAll);
readAll();
