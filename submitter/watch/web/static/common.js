// What all pages share. Text reaches a page by textContent alone: whatever a log or a name holds, it stays text.
export const body = document.body;
export const language = body.dataset.language;
export const texts = await (await fetch("/texts.json")).json();

export function t(id, values = {}) {
  const template = texts[id] ?? id;
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);
export const fill = (element, ...children) => element.replaceChildren(...children.filter((child) => child != null));

const locale = language === "zh" ? "zh-CN" : "en";
export const none = () => make("span", { class: "faint" }, t("web.not_measured"));

export function number(value, digits = 3) {
  if (value === null || value === undefined) return null;
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)) return value.toExponential(2);
  return new Intl.NumberFormat(locale, { maximumSignificantDigits: Math.max(digits, Math.trunc(Math.abs(value)).toString().length) }).format(value);
}

export const percent = (share) => (share === null || share === undefined ? null : `${(share * 100).toFixed(1)} %`);

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return null;
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const found = units.findIndex(([size]) => seconds >= size);
  const at = found < 0 ? 3 : found;
  const [size, name] = units[at];
  const rest = at < 3 ? Math.floor((seconds % size) / units[at + 1][0]) : 0;
  const first = `${Math.floor(seconds / size)} ${name}`;
  return rest ? `${first} ${rest} ${units[at + 1][1]}` : first;
}

export const time = (ms) => (ms ? new Date(ms).toLocaleString(locale, { month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" }) : null);
export const gib = (mb) => (mb === null || mb === undefined ? null : `${(mb / 1024).toFixed(1)}`);
export const stateMark = (state) => make("span", { class: `state ${state}` }, t(`web.state.${state}`));
export const getJson = async (path) => {
  const answer = await fetch(path);
  if (answer.status === 401) location.assign("/login");
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
};

let toldUntil = 0;
export function tell(message) {
  const told = byId("told");
  told.textContent = message;
  told.hidden = false;
  toldUntil = Date.now() + 5000;
  setTimeout(() => { if (Date.now() >= toldUntil) told.hidden = true; }, 5100);
}

export function sure(question) {
  const dialog = byId("sure");
  byId("sure-text").textContent = question;
  dialog.showModal();
  return new Promise((resolve) => {
    const answer = (value) => () => { dialog.close(); resolve(value); };
    byId("sure-yes").onclick = answer(true);
    byId("sure-no").onclick = answer(false);
    dialog.oncancel = () => resolve(false);
  });
}

export async function post(path, values = {}) {
  const form = new URLSearchParams({ csrf: body.dataset.csrf, ...values });
  const answer = await fetch(path, { method: "POST", body: form, headers: { accept: "application/json" } });
  const said = answer.ok ? await answer.json() : { ok: false, message: `${answer.status}` };
  tell(said.message);
  return said.ok;
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30000;

// Watches subjects over one socket; `onMessage` gets each message, `onOpen` is called at each (new) connection.
export function watch(subjects, onMessage, onOpen = () => {}) {
  let wait = FIRST_WAIT_MS;
  let socket = null;
  const asked = [...subjects];
  const connect = () => {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`);
    socket.onopen = () => {
      wait = FIRST_WAIT_MS;
      byId("link").hidden = true;
      body.dataset.live = "1";
      asked.forEach((one) => socket.send(JSON.stringify({ watch: one })));
      onOpen();
    };
    socket.onmessage = (event) => onMessage(JSON.parse(event.data));
    socket.onclose = () => {
      byId("link").textContent = t("web.offline");
      byId("link").hidden = false;
      delete body.dataset.live;
      setTimeout(connect, wait * (0.7 + 0.6 * Math.random()));
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    };
  };
  connect();
  return {
    add(subject) {
      asked.push(subject);
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ watch: subject }));
    },
  };
}

// Bars of one node's devices: how full each is, hatched where nothing is measured.
export function heat(devices, value, name) {
  const bars = devices.map((device) => {
    const share = value(device);
    const ill = device.health && device.health !== "OK";
    const said = `NPU ${device.npu}: ${share === null ? t("web.not_measured") : name(device)}${ill ? ` · ${device.health}` : ""}`;
    const bar = make("i", { title: said, class: `${share === null ? "none" : ""} ${ill ? "ill" : ""}`.trim() });
    if (share !== null) bar.style.backgroundColor = `rgba(var(--heat), ${Math.max(0.06, Math.min(1, share)).toFixed(2)})`;
    return bar;
  });
  return make("span", { class: "heat", role: "img", "aria-label": bars.map((bar) => bar.title).join(", ") }, ...bars);
}

export function nodesTable(nodes, more = []) {
  const head = ["web.node", ...more.map((one) => one.title), "web.use", "web.hbm", "web.temperature", "web.memory", "web.load", "web.measured"];
  const rows = nodes.map((node) => {
    const devices = node.devices ?? [];
    const use = (device) => (device.use_percent === null ? null : device.use_percent / 100);
    const hbm = (device) => (device.hbm_used_mb === null || !device.hbm_total_mb ? null : device.hbm_used_mb / device.hbm_total_mb);
    const hot = (device) => (device.temp_c === null ? null : device.temp_c / 100);
    const bars = (value, name, summary) =>
      node.devices === null ? make("span", { class: "faint", title: node.why ?? "" }, t("web.not_measured")) : make("span", {}, heat(devices, value, name), " ", summary ?? "");
    const temps = devices.map((device) => device.temp_c).filter((value) => value !== null);
    const memory = node.memory_used_mb === null ? none() : `${gib(node.memory_used_mb)} / ${gib(node.memory_total_mb)} GiB`;
    return make("tr", {},
      make("td", { class: "mono" }, node.node, make("div", { class: "faint" }, node.host ?? "")),
      ...more.map((one) => make("td", {}, one.cell(node))),
      make("td", {}, bars(use, (device) => `${device.use_percent} %`, node.use_percent === null ? null : `${Math.round(node.use_percent)} %`)),
      make("td", {}, bars(hbm, (device) => `${gib(device.hbm_used_mb)} / ${gib(device.hbm_total_mb)} GiB`, node.hbm_percent === null ? null : `${Math.round(node.hbm_percent)} %`)),
      make("td", {}, bars(hot, (device) => `${device.temp_c} °C`, temps.length ? `${Math.max(...temps)} °C` : null)),
      make("td", { class: "num" }, memory),
      make("td", { class: "num" }, number(node.load) ?? none()),
      make("td", { class: "num" }, time(node.at_ms)));
  });
  return make("table", {}, make("thead", {}, make("tr", {}, ...head.map((id) => make("th", {}, t(id))))), make("tbody", {}, ...rows));
}
