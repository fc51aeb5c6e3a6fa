import { byId, fill, make, nodesTable, post, sure, t, time, watch } from "./common.js";

function quarantine(cluster) {
  if (!cluster.quarantine.length) return null;
  const rows = cluster.quarantine.map((one) => make("tr", { "data-node": one.node },
    make("td", { class: "mono" }, one.node),
    make("td", { class: "mono" }, one.finding),
    make("td", {}, one.why),
    make("td", { class: "mono" }, one.attempt),
    make("td", { class: "num" }, time(one.until_ms)),
    make("td", {}, make("button", { type: "button", class: "release", onclick: () => release(one.node, cluster.address) }, t("web.release")))));
  const head = ["web.node", "web.finding", "web.why", "web.attempt", "web.until"].map((id) => make("th", {}, t(id)));
  return make("div", {}, make("h3", {}, t("web.quarantine")),
    make("div", { class: "wide" }, make("table", { class: "quarantine" }, make("thead", {}, make("tr", {}, ...head, make("th"))), make("tbody", {}, ...rows))));
}

async function release(node, address) {
  if (await sure(t("web.release_sure"))) await post("/nodes/release", { node, address });
}

const runLink = { title: "web.run", cell: (node) => make("a", { class: "mono", href: `/run/${encodeURIComponent(node.run)}` }, node.run) };

function section(cluster) {
  const link = cluster.dashboard ? make("a", { href: cluster.dashboard, target: "_blank", rel: "noopener noreferrer" }, t("web.ray_cluster")) : null;
  const nodes = cluster.nodes.length ? make("div", { class: "wide" }, nodesTable(cluster.nodes, [runLink])) : make("p", { class: "empty" }, t("web.no_nodes"));
  return make("section", {}, make("div", { class: "bar" }, make("h2", { class: "mono" }, cluster.address), link), nodes, quarantine(cluster));
}

watch([["cluster"]], (message) => {
  fill(byId("clusters"), ...message.clusters.map(section));
  byId("empty").hidden = message.clusters.length > 0;
});
