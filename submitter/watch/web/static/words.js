// Texts by id, from the server's one table, and numbers as people read them. null: not measured, and said so.

const language = document.body.dataset.language;
const locale = language === "zh" ? "zh-CN" : "en-GB";
let table = {};

/** `given`: what the server has at /texts.json. */
export function useWords(given) {
  table = given;
}

export function t(id, values = {}) {
  const template = table[id];
  if (template === undefined) return id;
  return template.replace(/\{(\w+)\}/g, (_, name) => said(values[name]));
}

export const known = (id) => id in table;

/** `orElse` where there is no such text: an id that another npurun has written. */
export const tOr = (id, orElse, values) => (known(id) ? t(id, values) : orElse);

function said(value) {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? number(value) : String(value);
}

export const unmeasured = () => t("web.not_measured");

/** Four digits that count; thousands are parted, very small and large numbers have an exponent. */
export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return unmeasured();
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return whole(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(2);
  return value.toLocaleString(locale, { maximumSignificantDigits: digits, minimumSignificantDigits: Math.min(digits, 3) });
}

export const whole = (value) => Math.round(value).toLocaleString(locale);

export function percent(share, digits = 0) {
  return share === null || share === undefined ? unmeasured() : `${(100 * share).toFixed(digits)} %`;
}

const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

/** The two largest units: `3 h 20 min`. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return unmeasured();
  if (seconds < 60) return t("web.time.s", { n: Math.round(seconds) });
  const first = UNITS.findIndex(([, size]) => seconds >= size);
  const [[large, size], [small, part]] = [UNITS[first], UNITS[first + 1]];
  const parts = Math.round(seconds / part);
  const [many, rest] = [Math.floor((parts * part) / size), Math.round(((parts * part) % size) / part)];
  const head = t(`web.time.${large}`, { n: many });
  return rest ? `${head} ${t(`web.time.${small}`, { n: rest })}` : head;
}

export const ago = (ms, nowMs = Date.now()) => t("web.ago", { time: duration(Math.max(0, (nowMs - ms) / 1000)) });

export function moment(ms) {
  if (ms === null || ms === undefined) return unmeasured();
  const isToday = new Date(ms).toDateString() === new Date().toDateString();
  const day = isToday ? {} : { month: "short", day: "numeric" };
  return new Date(ms).toLocaleString(locale, { ...day, hour: "2-digit", minute: "2-digit" });
}

export const exact = (ms) => new Date(ms).toLocaleString(locale);

export const gigabytes = (mb) => whole(mb / 1024);

/** An alert's text: a phase that it names is said in words. */
export function alertText(alert, part = "") {
  const phase = alert.values.phase && `phase.${alert.values.phase}`;
  const values = phase && known(phase) ? { ...alert.values, phase: t(phase) } : alert.values;
  return tOr(alert.id + part, part ? "" : tOr(`${alert.id}.about`, alert.id), values);
}
