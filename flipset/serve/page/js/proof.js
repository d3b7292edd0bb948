// The proof: what was asked, what follows from it, and a replay.

import { post, postForText } from "./api.js";
import { brief, download, h, plural, swap, tell } from "./dom.js";
import { asked, state } from "./state.js";

export function proof(said) {
  const e = said.explanation;
  const steps = h("div", { id: "replay", "aria-live": "polite" });
  async function replay() {
    try {
      const { fixed, bounds } = asked();
      const found = await post("verify", { explanation: e, fixed, bounds });
      swap(steps, told(found, e));
    } catch (error) {
      tell(error.message);
    }
  }
  const name = `flipset-row-${state.row}`;
  return [
    h("h3", {}, "The proof"),
    h("p", {}, said.proved, ` ${plural(e.queries, "row")} asked, in ${plural(e.rounds, "call")} of the model.`),
    h("div", { class: "buttons" },
      h("button", { type: "button", "data-key": "replay", onclick: replay }, "Replay it"),
      h("button", { type: "button", "data-key": "json", onclick: () => download(`${name}.json`, JSON.stringify(e), "application/json") }, "Download as JSON"),
      h("button", { type: "button", "data-key": "report", onclick: async () => {
        try {
          download(`${name}.html`, await postForText("report", asked()), "text/html");
        } catch (error) {
          tell(error.message);
        }
      } }, "Download the report")),
    steps,
  ];
}

function told(found, e) {
  const word = (flips) => (flips ? "turns" : "stays");
  return [
    h("p", { class: found.ok ? "good" : "bad" }, found.ok
      ? `Confirmed: the model was asked ${plural(found.steps.length, "question")} again and gave the same answers${found.checked ? ", and they leave no other answer" : ""}.`
      : found.decided ? "Not confirmed:" : "Not decided: checking the proof takes too many steps."),
    found.problems.length ? h("ul", { class: "bad" }, found.problems.map((problem) => h("li", {}, problem))) : "",
    h("table", { class: "steps" },
      h("thead", {}, h("tr", {}, ["moved to the best value", "score", "the decision", ""].map((words) => h("th", { scope: "col" }, words)))),
      h("tbody", {}, found.steps.map((step) => h("tr", {},
        h("td", {}, step.moved.length === e.moves.length ? "everything that can move"
          : step.moved.length > e.moves.length / 2 && step.moved.length > 3
            ? `everything but ${e.moves.map((unit) => unit.name).filter((one) => !step.moved.includes(one)).join(", ")}`
            : step.moved.join(", ") || "nothing"),
        h("td", { class: "number" }, brief(step.score)),
        h("td", {}, word(step.flips)),
        h("td", {}, step.flips === step.expected ? "✓" : "✗ other than claimed"))))),
  ];
}
