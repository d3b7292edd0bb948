// The proof: what is proved, a replay, and downloads.

import { post, postForText } from "./api.js";
import { brief, download, h, plural, swap, tell } from "./dom.js";
import { asked, state } from "./state.js";
import { label } from "./words.js";

export function proof(said, outcomes) {
  const e = said.explanation;
  const steps = h("div", { id: "replay", "aria-live": "polite" });
  async function replay() {
    try {
      const { fixed, bounds } = asked();
      const found = await post("verify", { explanation: e, fixed, bounds });
      swap(steps, replayed(found, e, outcomes));
    } catch (error) {
      tell(error.message);
    }
  }
  const name = `flipset-row-${state.row}`;
  return [
    h("h3", {}, "Proof"),
    h("p", {}, said.proved, ` ${plural(e.queries, "query")} in ${plural(e.rounds, "call")} of the model.`),
    h("div", { class: "buttons" },
      h("button", { type: "button", "data-key": "replay", onclick: replay }, "Replay the proof"),
      h("button", { type: "button", "data-key": "json", onclick: () => download(`${name}.json`, JSON.stringify(e), "application/json") }, "Download JSON"),
      h("button", { type: "button", "data-key": "report", onclick: async () => {
        try {
          download(`${name}.html`, await postForText("report", asked()), "text/html");
        } catch (error) {
          tell(error.message);
        }
      } }, "Download report")),
    steps,
  ];
}

function replayed(found, e, outcomes) {
  const word = (flips) => (flips !== e.decision ? outcomes.approved : outcomes.declined);
  return [
    h("p", { class: found.ok ? "good" : "bad" }, found.ok
      ? `Confirmed: the model gave the same answers to ${found.steps.length === 1 ? "the 1 query" : `all ${plural(found.steps.length, "query")}`} of the proof${found.checked ? ", and no other result is consistent with them" : ""}.`
      : found.decided ? "Not confirmed:" : "Not decided: the check of the proof takes too many steps."),
    found.problems.length ? h("ul", { class: "bad" }, found.problems.map((problem) => h("li", {}, problem))) : "",
    h("table", { class: "steps" },
      h("thead", {}, h("tr", {}, ["features moved as far as allowed", "score", "decision", ""].map((words) => h("th", { scope: "col" }, words)))),
      h("tbody", {}, found.steps.map((step) => h("tr", {},
        h("td", {}, step.moved.length === e.moves.length ? "all features that may change"
          : step.moved.length > e.moves.length / 2 && step.moved.length > 3
            ? `all but ${e.moves.map((unit) => unit.name).filter((one) => !step.moved.includes(one)).map(label).join(", ")}`
            : step.moved.map(label).join(", ") || "none"),
        h("td", { class: "number" }, brief(step.score)),
        h("td", {}, word(step.flips)),
        h("td", {}, step.flips === step.expected ? "✓" : "✗ differs from the proof"))))),
  ];
}
