// What people call columns, groups and their values, as the space has it. Requests and addresses have the names.

import { show } from "./dom.js";

let words = {};
let score = "score";

export function learn(about) {
  words = about.words;
  score = about.score_label;
}

export const scoreLabel = () => score;
export const label = (name) => words[name]?.label ?? name;

/** A value of a column: its label if it has one; a flag without labels reads "no" or "yes". */
export function cell(name, value) {
  const key = value === null || value === undefined ? "missing" : typeof value === "boolean" ? String(Number(value)) : String(value);
  return words[name]?.value_labels?.[key] ?? show(value);
}

/** A column and what follows its numbers: "income, thousand USD". */
export const titled = (name) => label(name) + (words[name]?.unit ? `, ${words[name].unit}` : "");
