// One case: the decision, the least that turns it, and what if.

import { get, latest, post } from "./api.js";
import { $, brief, h, swap, tell } from "./dom.js";
import { proof } from "./proof.js";
import { asked, change, isChanged, listen, state, UNCHANGED } from "./state.js";
import { headline, reasons, ways } from "./ways.js";
import { controls } from "./whatif.js";

const PARTS = ["row", "values", "fixed", "bounds", "most", "objective"];

let about;
let features;
let base = null; // the row as the table has it
let said = null; // the answer that is shown
let all = false; // whether all ways are
let shownRow = null; // the row that it is about
let questions = 0;
const explainLatest = latest();

export function start(given) {
  about = given;
  features = new Map(about.features.map((feature) => [feature.name, feature]));
  listen((parts) => {
    if (!PARTS.some((name) => name in parts)) return;
    if ("row" in parts) all = false;
    ask();
  });
  draw();
  if (state.row !== null) ask();
}

async function ask() {
  if (state.row === null) return;
  const panel = $("case");
  const mine = ++questions;
  panel.dataset.asking = mine;
  const waiting = setTimeout(() => panel.setAttribute("aria-busy", "true"), 200);
  try {
    const answer = await explainLatest(async (signal) => {
      const [row, found] = await Promise.all([rowAsItIs(signal), post("explain", asked(), signal)]);
      return { row, found };
    });
    if (!answer) return;
    base = answer.row;
    said = answer.found;
    shownRow = state.row;
    draw();
  } catch (error) {
    draw(error.message);
  } finally {
    clearTimeout(waiting);
    if (mine === questions) {
      panel.removeAttribute("aria-busy");
      delete panel.dataset.asking;
    }
  }
}

let known = { row: null, values: null };
async function rowAsItIs(signal) {
  if (known.row !== state.row) {
    const { values } = await get("row", { row: state.row }, signal);
    known = { row: state.row, values };
  }
  return known.values;
}

function draw(error = "") {
  const panel = $("case");
  if (state.row === null || said === null || shownRow !== state.row) {
    swap(panel, h("h2", { id: "case-title" }, state.row === null ? "One case" : `Row ${state.row}`), error ? h("p", { class: "bad" }, error)
      : h("p", { class: "calm" }, state.row === null ? "Choose a row of the table to see what would turn its decision." : ""));
    return;
  }
  const e = said.explanation;
  const where = panel.scrollTop;
  swap(panel,
    h("div", { class: "case-head" },
      h("h2", { id: "case-title" }, `Row ${state.row}`),
      isChanged() && h("span", { class: "badge" }, "changed"),
      isChanged() && h("button", { type: "button", class: "quiet", "data-key": "reset", onclick: () => change({ ...UNCHANGED }) }, "Reset"),
      h("button", { type: "button", class: "quiet", "data-key": "link", onclick: copy }, "Copy link")),
    error && h("p", { class: "bad", role: "alert" }, error),
    h("div", { class: "columns" },
      h("div", { class: "column", id: "answer" },
        verdict(e),
        h("div", { class: "case-head" }, h("h3", { id: "headline" }, headline(e)), wants()),
        ways(e, features, all, () => { all = true; draw(); }),
        reasons(e),
        proof(said)),
      h("div", { class: "column" },
        h("h3", {}, "What if"),
        h("p", { class: "muted" }, "Move a value, hold a feature, narrow its range: the answer follows. The bars are the population; the tick is the row’s own value."),
        controls(about.features, base))));
  panel.scrollTop = where;
}

function verdict(e) {
  const score = typeof e.score === "number" ? e.score : e.score === "inf" ? Infinity : -Infinity;
  const finite = [0, 1, score, e.threshold].filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const x = (value) => `${Math.max(0, Math.min(100, (100 * (value - low)) / (high - low)))}%`;
  return h("div", { class: `verdict ${e.decision ? "is-yes" : "is-no"}` },
    h("p", {}, "Decision: ", h("strong", { class: e.decision ? "yes" : "no", id: "decision" }, e.decision ? "yes" : "no"),
      h("span", { class: "muted" }, ` score ${brief(e.score)}, yes from ${brief(e.threshold)}`)),
    h("div", { class: "score", "aria-hidden": "true" },
      h("div", { class: "score-fill", style: { width: x(score) } }),
      h("div", { class: "score-line", style: { left: x(e.threshold) } })));
}

function wants() {
  const most = h("select", { "aria-label": "At most so many changes", "data-key": "most",
    onchange: (event) => change({ most: event.target.value === "" ? null : Number(event.target.value) }) },
  h("option", { value: "" }, "any number of changes"),
  [1, 2, 3, 4].map((n) => h("option", { value: String(n) }, `at most ${n}`)));
  most.value = state.most === null ? "" : String(state.most);
  const objective = h("select", { "aria-label": "What is wanted", "data-key": "objective",
    onchange: (event) => change({ objective: event.target.value }) },
  h("option", { value: "size" }, "fewest changes"), h("option", { value: "cost" }, "cheapest changes"));
  objective.value = state.objective;
  return h("span", { class: "wants" }, most, objective);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(location.href);
    tell("The link is copied: it opens this case as it is now.");
  } catch {
    tell(location.href);
  }
}
