// Making elements and writing numbers. Everything that comes from a table is inserted as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(3)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);
export const $ = (id) => document.getElementById(id);

/** Replace the children of an element, and keep the focus on the child with the same data-key. */
export function swap(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== false));
  if (key) element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/** A value for people, without thousands separators, since it may be an identifier. */
export function show(value, isFlag = false) {
  if (value === null || value === undefined) return "missing";
  if (typeof value === "boolean" || (isFlag && (value === 0 || value === 1))) return value ? "yes" : "no";
  if (typeof value !== "number" || Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(6)));
}

/** A number of things, with thousands separators. */
export const count = (n) => n.toLocaleString("en");

/** A number that is only described, with 3 significant digits; an infinite one comes from the server as text. */
export const brief = (value) => (typeof value === "number" ? show(Number(value.toPrecision(3))) : String(value ?? ""));

export const share = (part) => `${(100 * part).toFixed(1)} %`;
export const plural = (n, word) => `${count(n)} ${n === 1 ? word : word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`}`;

/** Call a function when it has not been called again for so many milliseconds. */
export function debounce(wait, action) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), wait);
  };
}

let clearing;
export function tell(text) {
  clearTimeout(clearing);
  $("toast").textContent = text;
  clearing = setTimeout(() => { $("toast").textContent = ""; }, 6000);
}

/** Download a text as a file. */
export function download(name, text, type) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
