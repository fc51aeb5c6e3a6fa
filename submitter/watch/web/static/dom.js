// Elements made and kept up to date in place. Whatever comes from outside becomes text, never markup.

export const byId = (id) => document.getElementById(id);

/** `h("a.mono", {href, onclick}, "text", element)`; attributes that are null or false are left out. */
export function h(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) attribute(element, key, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function attribute(element, key, value) {
  if (typeof value === "function") element.addEventListener(key.slice(2), value);
  else if (value === null || value === undefined || value === false) element.removeAttribute(key);
  else if (element.getAttribute(key) !== String(value)) element.setAttribute(key, value);
}

/** Only what differs is touched, so that a selection or a hover survives. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
  return element;
}

export function show(element, is = true) {
  element.hidden = !is;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

const kept = new WeakMap();

/** The children of `parent` are those of `items`, in their order: each made once by `make(item)`, which gives
 *  `{element, update(item)}`, and kept as long as its key is there. */
export function keep(parent, items, keyOf, make) {
  const before = kept.get(parent) ?? new Map();
  const now = new Map();
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    const one = before.get(key) ?? make(item);
    before.delete(key);
    const isNext = one.element === place;
    one.update(item); // may put another element in its place
    if (isNext) place = one.element.nextElementSibling;
    else parent.insertBefore(one.element, place);
    now.set(key, one);
  }
  for (const gone of before.values()) gone.element.remove();
  kept.set(parent, now);
}

/** A row or tile that is simply made anew when its item has changed. */
export function remade(render) {
  return (item) => {
    let said = JSON.stringify(item);
    const one = { element: render(item), update };
    function update(next) {
      const text = JSON.stringify(next);
      if (text === said) return;
      said = text;
      const fresh = render(next);
      one.element.replaceWith(fresh);
      one.element = fresh;
    }
    return one;
  };
}

export function table(heads, rows, name = "table.stacking") {
  const head = h("tr", {}, ...heads.map(([text, kind]) => h("th", { scope: "col", class: kind || null }, text)));
  return h(name, {}, h("thead", {}, head), rows instanceof Node ? rows : h("tbody", {}, ...rows));
}

/** A cell that knows its column's name, for narrow screens. */
export function cell(label, content, kind = null) {
  return h("td", { "data-label": label, class: kind }, ...(Array.isArray(content) ? content : [content]));
}

export function setting(key, fallback) {
  try { return JSON.parse(localStorage.getItem(key)) ?? fallback; } catch { return fallback; }
}

export function remember(key, value) {
  try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* a browser that keeps nothing */ }
}
