// What-if changes: change a value, hold a feature fixed, narrow its allowed range.

import { h, debounce, s, show } from "./dom.js";
import { ends, population } from "./scale.js";
import { change, state } from "./state.js";
import { cell, label, scoreLabel, titled } from "./words.js";

const without = (object, name) => Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

/** The controls for all features; `row` has the values in the table, and `explained` those of the row that is explained. */
export function controls(features, row, explained) {
  const groups = new Set();
  return h("ul", { class: "features" }, features.map((feature) => {
    if (feature.computed) return computed(feature, row[feature.name], explained[feature.name]);
    if (!feature.one_hot) return control(feature, row);
    if (groups.has(feature.group)) return null;
    groups.add(feature.group);
    return oneHot(feature.group, features.filter((one) => one.group === feature.group), row);
  }));
}

/** One-hot columns: a single choice, so that exactly one can be 1. */
function oneHot(group, members, row) {
  const now = (name) => (name in state.values ? state.values[name] : row[name]);
  const moved = members.some((one) => one.name in state.values);
  const given = h("select", { "aria-label": label(group), "data-key": `choice ${group}`, onchange: (event) => {
    let values = state.values;
    for (const { name } of members) {
      const to = name === event.target.value ? 1 : 0;
      values = to === Number(row[name]) ? without(values, name) : { ...values, [name]: to };
    }
    change({ values });
  } }, members.map((one) => h("option", { value: one.name }, label(one.name))), h("option", { value: "" }, "none of them"));
  given.value = members.find((one) => Number(now(one.name)) === 1)?.name ?? "";
  return h("li", { class: `feature${moved ? " moved" : ""}`, "data-feature": group },
    h("div", { class: "feature-head" }, h("span", { class: "feature-name" }, label(group)), h("span", { class: "muted hint" }, "one of these"),
      lock(members[0], isHeld(members[0]) || state.fixed.includes(group))),
    h("div", { class: "feature-scale" }, given));
}

/** A column that is computed from others has no control: its value follows theirs. */
function computed(feature, own, value) {
  const moved = cell(feature.name, value) !== cell(feature.name, own);
  return h("li", { class: "feature", "data-feature": feature.name },
    h("div", { class: "feature-head" },
      h("span", { class: "feature-name", title: feature.description || null }, titled(feature.name)),
      h("span", { class: "muted hint" }, feature.computed),
      moved && h("span", { class: "muted was" }, `was ${cell(feature.name, own)}`),
      h("span", { class: "computed" }, cell(feature.name, value))));
}

function control(feature, row) {
  const own = row[feature.name];
  const value = feature.name in state.values ? state.values[feature.name] : own;
  const moved = feature.name in state.values;
  const locked = isHeld(feature) || state.fixed.includes(feature.group ?? feature.name);
  return h("li", { class: `feature${moved ? " moved" : ""}`, "data-feature": feature.name },
    h("div", { class: "feature-head" },
      h("span", { class: "feature-name", id: `name ${feature.name}`, title: feature.description || null }, titled(feature.name)),
      h("span", { class: "muted hint" }, hint(feature)),
      moved && h("button", { type: "button", class: "undo", "data-key": `undo ${feature.name}`, onclick: () => change({ values: without(state.values, feature.name) }),
        "aria-label": `Reset ${label(feature.name)} to ${cell(feature.name, own)}` }, `was ${cell(feature.name, own)}`),
      lock(feature, locked)),
    field(feature, value, own, locked));
}

/** Whether the space holds a feature fixed: it is declared so, or has neither a direction nor options. */
const isHeld = (feature) => feature.fixed || (feature.direction === null && !feature.movable);

function field(feature, value, own, locked) {
  if (typeof value === "number" && typeof own === "number" && feature.least !== null) return slider(feature, value, own, locked);
  if (["numeric", "integer"].includes(feature.kind) && !feature.choices.length && (value === null || typeof value === "number")) {
    return h("div", { class: "feature-scale" }, h("input", { type: "number", step: "any", placeholder: "missing", value: value === null ? "" : brief(value),
      "aria-label": `${label(feature.name)}, exactly`, "data-key": `number ${feature.name}`,
      onchange: (event) => set(feature.name, event.target.value === "" ? null : whole(feature, Number(event.target.value)), own) }));
  }
  return choice(feature, value, own);
}

function hint(feature) {
  if (isHeld(feature)) return "held fixed";
  if (feature.direction === null) return "any value";
  if (feature.kind === "binary") return feature.direction > 0 ? `${cell(feature.name, 1)} raises the ${scoreLabel()}` : `${cell(feature.name, 0)} raises the ${scoreLabel()}`;
  return feature.direction > 0 ? `higher values raise the ${scoreLabel()}` : `lower values raise the ${scoreLabel()}`;
}

function lock(feature, locked) {
  const name = feature.group ?? feature.name;
  return h("button", { type: "button", class: "lock", "aria-pressed": String(locked), disabled: isHeld(feature),
    "data-key": `lock ${feature.name}`, "aria-label": `Hold ${label(name)} fixed`, title: isHeld(feature) ? "Held fixed" : "Hold fixed",
    onclick: () => change({ fixed: locked ? state.fixed.filter((one) => one !== name) : [...state.fixed, name] }) },
  s("svg", { viewBox: "0 0 20 20", width: 18, height: 18, "aria-hidden": "true" },
    s("rect", { x: 4, y: 9, width: 12, height: 8.5, rx: 2 }),
    s("path", { d: locked ? "M6.5 9V6.2a3.5 3.5 0 0 1 7 0V9" : "M6.5 9V6.2a3.5 3.5 0 0 1 6.8-1.2" })));
}

function set(name, value, own) {
  change({ values: value === own ? without(state.values, name) : { ...state.values, [name]: value } });
}

/** A number that fits into its field; the field is read only after an edit. */
const brief = (value) => String(Number(value.toPrecision(7)));

const whole = (feature, value) => (feature.kind === "integer" || feature.kind === "binary" ? Math.round(value) : value);

function slider(feature, value, own, locked) {
  const [low, high] = ends(feature, value, own);
  const step = feature.step ?? (feature.kind === "integer" ? 1 : Number(((high - low) / 200).toPrecision(2)));
  const number = h("input", { type: "number", step: "any", value: brief(value), "aria-label": `${label(feature.name)}, exactly`, "data-key": `number ${feature.name}`,
    onchange: (event) => { if (event.target.value !== "") set(feature.name, whole(feature, Number(event.target.value)), own); } });
  const soon = debounce(60, (to) => set(feature.name, to, own));
  const range = h("input", { type: "range", min: low, max: high, step: "any", "aria-label": label(feature.name), "data-key": `range ${feature.name}`,
    onkeydown: (event) => {
      const sign = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
      if (!sign) return;
      event.preventDefault();
      const now = state.values[feature.name] ?? own; // the answer to the last step may still be on its way
      const to = Number(Math.max(low, Math.min(high, now + sign * step)).toPrecision(12));
      range.value = String(to);
      number.value = brief(to);
      set(feature.name, to, own);
    },
    oninput: (event) => {
      const raw = Number(event.target.value);
      const near = Math.abs(raw - own) < (high - low) / 150 ? own : Number((Math.round(raw / step) * step).toPrecision(12));
      const to = Math.max(low, Math.min(high, near));
      number.value = brief(to);
      soon(to);
    } });
  range.value = String(value);
  const x = (at) => `${(100 * (at - low)) / (high - low)}%`;
  return h("div", { class: "feature-scale" },
    h("div", { class: "slide" }, population(feature, low, high),
      h("div", { class: "own", style: { left: x(own) }, "aria-hidden": "true" }), range),
    number,
    !locked && feature.direction !== null && limits(feature));
}

function choice(feature, value, own) {
  const choices = [...new Set([...feature.choices, ...feature.special, own, value])].filter((one) => one !== null && one !== undefined);
  const given = h("select", { "aria-label": label(feature.name), "data-key": `choice ${feature.name}`,
    onchange: (event) => set(feature.name, JSON.parse(event.target.value), own) },
  choices.map((one) => h("option", { value: JSON.stringify(one) }, cell(feature.name, one))),
  (own === null || value === null) && h("option", { value: "null" }, "missing"));
  given.value = JSON.stringify(value);
  return h("div", { class: "feature-scale" }, given);
}

function limits(feature) {
  const [low, high] = state.bounds[feature.name] ?? [null, null];
  const side = (which, given, placeholder) => h("input", { type: "number", step: "any", value: given === null ? "" : String(given), placeholder: show(placeholder),
    "aria-label": `${label(feature.name)}, ${which}`, "data-key": `${which} ${feature.name}`,
    onchange: (event) => {
      const to = event.target.value === "" ? null : Number(event.target.value);
      const pair = which === "at least" ? [to, high] : [low, to];
      change({ bounds: pair.every((one) => one === null) ? without(state.bounds, feature.name) : { ...state.bounds, [feature.name]: pair } });
    } });
  return h("details", { class: "limits", open: low !== null || high !== null },
    h("summary", {}, "range", h("span", { class: "hidden" }, ` of ${label(feature.name)}`)),
    h("span", {}, side("at least", low, feature.lower), " to ", side("at most", high, feature.upper)));
}
