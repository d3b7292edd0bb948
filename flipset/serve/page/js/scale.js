// A feature's scale: the population behind it, where the row stands, and where it has to go.

import { h, s, show } from "./dom.js";

/** Return where the ends of a scale are, the row's own value included. */
export function ends(feature, ...values) {
  const numbers = [feature.least, feature.most, feature.lower, feature.upper, ...values].filter((v) => typeof v === "number");
  const low = Math.min(...numbers);
  const high = Math.max(...numbers);
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

const isScale = (feature) => feature.least !== null;

/** Draw the population of a feature as bars, from one end of its scale to the other. */
export function population(feature, low, high) {
  const n = feature.bars.length;
  const most = Math.max(...feature.bars, 1);
  const numbers = isScale(feature);
  const at = (i) => (numbers ? feature.least + ((feature.most - feature.least) * i) / n : i);
  const [from, to] = numbers ? [low, high] : [0, n];
  const x = (value) => (100 * (value - from)) / (to - from);
  return s("svg", { class: "bars", viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" },
    feature.bars.map((bar, i) => {
      const height = bar ? 8 + (92 * Math.sqrt(bar)) / Math.sqrt(most) : 0;
      return s("rect", { x: x(at(i)) + 0.3, y: 100 - height, width: Math.max(x(at(i + 1)) - x(at(i)) - 0.6, 0.4), height });
    }));
}

/** Draw a change as a movement on its scale. */
export function movement(one, feature) {
  const words = changeWords(one, feature);
  if (!feature || !isScale(feature) || typeof one.before !== "number" || typeof one.after !== "number") {
    return h("p", { class: "change" }, words);
  }
  const [low, high] = ends(feature, one.before, one.after);
  const x = (value) => (100 * (value - low)) / (high - low);
  const [left, right] = [x(one.before), x(one.after)].sort((a, b) => a - b);
  const up = one.after > one.before;
  return h("div", { class: "change" }, h("p", {}, words),
    h("div", { class: "scale", "aria-hidden": "true" }, population(feature, low, high),
      h("div", { class: `move ${up ? "up" : "down"}`, style: { left: `${left}%`, width: `${right - left}%` } }),
      h("div", { class: "mark before", style: { left: `${x(one.before)}%` } }),
      h("div", { class: "mark after", style: { left: `${x(one.after)}%` } })));
}

function changeWords(one, feature) {
  const only = one.how === "becomes" || feature?.kind === "binary"; // there is nothing beyond it
  return [h("strong", {}, one.feature), ` ${show(one.before)} → `, only ? "" : `${one.how} `,
    h("strong", { class: "target", title: String(one.after) }, exact(one.after))];
}

/** A value that advice is about: never rounded, for what is rounded may not be enough. */
export const exact = (value) => (value === null ? "missing" : typeof value === "number" ? String(value) : value);
