// The answer: the options as cards, the reasons, and the features that an option shares with a reason.

import { h, plural } from "./dom.js";
import { frontier } from "./frontier.js";
import { movement } from "./scale.js";
import { label } from "./words.js";

const SHOWN = 12;

export function options(said, features, more, showAll) {
  const e = said.explanation;
  const cards = e.counterfactuals.map((one, i) => [one, said.text.options[i]]).sort(([a], [b]) => a.cost - b.cost);
  if (!cards.length) return null;
  const shown = more ? cards : cards.slice(0, SHOWN);
  return [
    h("ol", { class: "cards", "aria-label": "Options, cheapest first" }, shown.map(([one, text], rank) => card(one, text, rank, e, features))),
    cards.length > shown.length && h("button", { type: "button", class: "quiet", onclick: showAll },
      `Show all ${plural(cards.length, "option")}`),
  ];
}

function card(one, text, rank, e, features) {
  const names = one.flipset.join(" and ");
  return h("li", { class: "card", tabindex: "0", "data-key": `option ${names}`, "data-names": JSON.stringify(one.flipset),
    "aria-label": `Option ${rank + 1}: ${text.changes.map(([feature, before, after]) => `${feature}: ${before} → ${after}`).join("; ")}`,
    ...highlight(one.flipset) },
  one.changes.map((change, i) => movement(change, text.changes[i], features.get(change.feature))),
  text.consequences.map((words) => h("p", { class: "follows muted" }, words)),
  h("p", { class: "facts muted" }, text.facts),
  one.changes.length === 2 && one.changes.every((c) => c.how !== "becomes") && frontier(one));
}

export function reasons(said) {
  const e = said.explanation;
  if (!e.reasons.some((reason) => reason.length)) return null;
  return [
    h("h3", {}, "Reasons"),
    h("p", { class: "muted" }, `${said.text.reasons}. Point at an option to see which features it shares with each reason.`),
    h("ul", { class: "reasons" }, e.reasons.map((reason) => h("li", { tabindex: "0", "data-key": `reason ${reason.join(" ")}`,
      "data-names": JSON.stringify(reason), ...highlight(reason) },
    reason.map((name, i) => [i ? h("span", { class: "muted" }, " · ") : null, h("span", { class: "name", "data-name": name }, label(name))])))),
    said.text.reasons_note ? h("p", { class: "muted" }, said.text.reasons_note) : null,
  ];
}

/** Hovered or focused, an option or a reason highlights the features that it shares with the others. */
function highlight(names) {
  const light = () => {
    const part = document.getElementById("answer");
    part.classList.add("lit");
    for (const element of part.querySelectorAll("[data-names]")) {
      const both = JSON.parse(element.dataset.names).filter((name) => names.includes(name));
      element.classList.toggle("met", both.length > 0);
    }
    for (const element of part.querySelectorAll("[data-name]")) {
      element.classList.toggle("met", names.includes(element.dataset.name));
    }
  };
  const dim = () => {
    const part = document.getElementById("answer");
    part?.classList.remove("lit");
    for (const element of part?.querySelectorAll(".met") ?? []) element.classList.remove("met");
  };
  return { onmouseenter: light, onfocus: light, onmouseleave: dim, onblur: dim };
}
