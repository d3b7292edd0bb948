// The scale of a feature: the population, the value of the row, and the value that it must reach.

import { h, s } from "./dom.js";

/** Return the ends of a scale, which includes the value of the row. */
export function ends(feature, ...values) {
  const numbers = [feature.least, feature.most, feature.lower, feature.upper, ...values].filter((v) => typeof v === "number");
  const low = Math.min(...numbers);
  const high = Math.max(...numbers);
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

const isScale = (feature) => feature.least !== null;

/** Draw the population of a feature as bars along its scale. */
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

/** Draw a change as a movement on its scale, below its text: feature, value before, value after. */
export function movement(one, [name, before, after], feature) {
  const words = [h("strong", {}, name), `: ${before} → `, h("strong", { class: "target" }, after)];
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

/** A value that has to be reached: never rounded, because a rounded value may not be enough. */
export const exact = (value) => (value === null ? "missing" : typeof value === "number" ? String(value) : value);
