// Making elements. Whatever comes from a table goes in as text, never as markup.

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

/** Replace what an element holds, and keep the focus where it was: on what has the same data-key. */
export function swap(element, ...children) {
  const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  element.replaceChildren(...children.flat(3).filter((child) => child !== null && child !== false));
  if (key) element.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/** A number as a person writes it: four digits that matter, unless it is whole. */
export function show(value) {
  if (value === null || value === undefined) return "missing";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value)) return value.toLocaleString("en", { useGrouping: Math.abs(value) >= 10_000 });
  return String(Number(value.toPrecision(6)));
}

/** A score, or another number that need not be exact; an infinite one comes as text. */
export const brief = (value) => (typeof value === "number" ? show(Number(value.toPrecision(4))) : String(value ?? ""));

export const share = (part) => `${(100 * part).toFixed(part > 0 && part < 0.1 ? 1 : 0)} %`;
export const plural = (n, word) => `${show(n)} ${word}${n === 1 ? "" : "s"}`;

/** Call a function once things have been quiet for so many milliseconds. */
export function quietly(wait, action) {
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

/** Hand a file to the person. */
export function download(name, text, type) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
