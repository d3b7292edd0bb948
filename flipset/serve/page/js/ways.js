// The answer: the ways out as cards, the reasons, and which way breaks which reason.

import { brief, h, plural, show } from "./dom.js";
import { staircase } from "./frontier.js";
import { movement } from "./scale.js";

const SHOWN = 12;

export function headline(e) {
  if (e.status === "none") return e.lower === null ? "No way out" : `No way with fewer than ${e.lower} changes`;
  if (!e.flipsets.length) return "No way out was found";
  return `${plural(e.flipsets[0].length, "change")}, ${plural(e.flipsets.length, "way")}`;
}

export function ways(e, features, more, showAll) {
  if (!e.counterfactuals.length) {
    if (e.status !== "none") return h("p", { class: "calm" }, "Nothing was found that turns this decision.");
    return h("p", { class: "calm" }, e.lower === null
      ? "Nothing that may change turns this decision. One question proved it: even with everything at its best, the decision stays."
      : `It was proved that at least ${plural(e.lower, "change")} would be needed. Allow more to see whether they turn it.`);
  }
  const cards = e.counterfactuals.map((one, i) => [one, i]).sort(([a], [b]) => a.cost - b.cost);
  const shown = more ? cards : cards.slice(0, SHOWN);
  return [
    h("ol", { class: "cards", "aria-label": "Ways out, cheapest first" }, shown.map(([one], rank) => card(one, rank, e, features))),
    cards.length > shown.length && h("button", { type: "button", class: "quiet", onclick: showAll },
      `Show all ${cards.length} ways`),
  ];
}

function card(one, rank, e, features) {
  const names = one.flipset.join(" and ");
  const broken = e.reasons.filter((reason) => reason.some((name) => one.flipset.includes(name))).length;
  return h("li", { class: "card", tabindex: "0", "data-key": `way ${names}`, "data-names": JSON.stringify(one.flipset),
    "aria-label": `Way ${rank + 1}: ${one.changes.map((c) => `${c.feature} ${c.how} ${show(c.after)}`).join(", ")}. Breaks ${broken} of ${plural(e.reasons.length, "reason")}.`,
    ...lit(one.flipset) },
  one.changes.map((change) => movement(change, features.get(change.feature))),
  h("p", { class: "facts muted" }, `cost ${one.cost.toFixed(2)}`,
    one.cost_at_least < one.cost ? ` (proved: at least ${one.cost_at_least.toFixed(2)})` : "", ` · new score ${brief(one.score)}`),
  one.changes.length === 2 && one.changes.every((c) => c.how !== "becomes") && staircase(one));
}

export function reasons(e) {
  if (!e.reasons.some((reason) => reason.length)) return null;
  return [
    h("h3", {}, "What holds the decision in place"),
    h("p", { class: "muted" }, "While all of one line stay as they are, nothing else helps. Every way out breaks every line."),
    h("ul", { class: "reasons" }, e.reasons.map((reason) => h("li", { tabindex: "0", "data-key": `reason ${reason.join(" ")}`,
      "data-names": JSON.stringify(reason), ...lit(reason) },
    reason.map((name, i) => [i ? h("span", { class: "muted" }, " · ") : null, h("span", { class: "name", "data-name": name }, name)])))),
  ];
}

/** Hovered or focused, a way out shows with what it breaks each reason, and a reason what breaks it. */
function lit(names) {
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
