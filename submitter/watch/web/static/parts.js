// Small pieces that several pages show.

import { h } from "./dom.js";
import { gigabytes, number, percent, t, tOr, unmeasured } from "./words.js";

export const stateBadge = (state) => h("span.state", { "data-state": state }, tOr(`web.state.${state}`, state));

export const dim = (text) => h("span.dim", {}, text);

/** What is not measured is said, never drawn as zero. */
export const value = (number_, format = number) => (number_ === null ? h("span.unmeasured", {}, unmeasured()) : format(number_));

export function bar(share, label) {
  const inner = h("span");
  inner.style.inlineSize = `${Math.min(100, 100 * (share ?? 0))}%`;
  return h("span.bar.small", { role: "img", "aria-label": label }, inner);
}

/** One square for each device; `of` gives its value between `low` and `high`, or null. */
export function heat(devices, of, { low, high, format, name }) {
  const squares = devices.map((device) => {
    const found = of(device);
    const square = h(found === null ? "i.cold" : "i", { title: `NPU ${device.npu}: ${found === null ? unmeasured() : format(found)}` });
    if (found !== null) square.style.setProperty("--heat", `${Math.round((100 * (Math.min(high, Math.max(low, found)) - low)) / (high - low))}%`);
    return square;
  });
  const said = devices.map((device) => `NPU ${device.npu} ${of(device) === null ? unmeasured() : format(of(device))}`);
  return h("span.heat", { role: "img", "aria-label": `${name}: ${said.join(", ")}` }, ...squares);
}

const HEAT = {
  use: { of: (one) => one.use_percent, low: 0, high: 100, format: (x) => `${whole(x)} %` },
  hbm: { of: (one) => (one.hbm_total_mb ? perCent(one) : null), low: 0, high: 100, format: (x) => `${whole(x)} %` },
  temperature: { of: (one) => one.temp_c, low: 30, high: 85, format: (x) => `${whole(x)} °C` },
};
const whole = (x) => Math.round(x);
const perCent = (one) => (one.hbm_used_mb === null ? null : (100 * one.hbm_used_mb) / one.hbm_total_mb);

function heatCell(node, kind, total) {
  if (!node.devices) return [h("span.unmeasured", { title: node.why }, unmeasured())];
  const { of, ...scale } = HEAT[kind];
  const shown = total(node.devices.map(of).filter((one) => one !== null));
  const text = shown === null ? unmeasured() : scale.format(shown);
  return [heat(node.devices, of, { ...scale, name: t(`web.${kind}`) }), h(shown === null ? "span.unmeasured" : "span", {}, text)];
}

const mean = (all) => (all.length ? all.reduce((sum, one) => sum + one, 0) / all.length : null);
const most = (all) => (all.length ? Math.max(...all) : null);
const sum = (all) => (all.length ? all.reduce((total, one) => total + one, 0) : null);

export const NODE_HEADS = ["node", "use", "hbm", "temperature", "power", "health", "memory", "cpu", "load", "measured"];

/** Contents of a node's cells, by the names of NODE_HEADS. */
export function nodeCells(node, when) {
  const power = node.devices ? sum(node.devices.map((one) => one.power_w).filter((one) => one !== null)) : null;
  const memory = node.memory_used_mb !== null && node.memory_total_mb ? node.memory_used_mb / node.memory_total_mb : null;
  return {
    node: [h("b.mono", {}, node.node), " ", dim(node.host ?? "")],
    run: node.run ? [h("a.mono", { href: `/run/${encodeURIComponent(node.run)}` }, node.run)] : [],
    use: heatCell(node, "use", mean),
    hbm: heatCell(node, "hbm", most),
    temperature: heatCell(node, "temperature", most),
    power: [value(power, (x) => `${whole(x)} W`)],
    health: [health(node)],
    memory: memory === null ? [value(null)] : [bar(memory, percent(memory)), h("span", { title: percent(memory) }, `${gigabytes(node.memory_used_mb)} / ${gigabytes(node.memory_total_mb)} GB`)],
    cpu: [value(node.cpu_percent, (x) => `${whole(x)} %`)],
    load: [value(node.load, (x) => number(x, 3))],
    measured: [when(node.at_ms)],
  };
}

function health(node) {
  const measured = (node.devices ?? []).filter((one) => one.health !== null);
  if (!measured.length) return value(null);
  if (!node.unhealthy.length) return h("span.good", {}, t("web.healthy"));
  const bad = measured.filter((one) => node.unhealthy.includes(one.npu));
  return h("span.bad", {}, bad.map((one) => `NPU ${one.npu}: ${one.health}`).join(", "));
}
