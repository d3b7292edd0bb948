// One row: the decision, the options, the reasons, the proof, and what-if changes.

import { get, latest, post } from "./api.js";
import { $, count, h, swap, tell } from "./dom.js";
import { options, reasons } from "./options.js";
import { proof } from "./proof.js";
import { asked, change, isChanged, listen, state, UNCHANGED } from "./state.js";
import { controls } from "./whatif.js";

const RULES = 8; // the most constraints that are listed
const PARTS = ["row", "values", "fixed", "bounds", "most", "objective"];

let about;
let features;
let base = null; // the row as the table has it
let said = null; // the answer that is shown
let all = false; // whether all its options are shown
let shownRow = null; // the row of the answer
let requests = 0;
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
  const mine = ++requests;
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
    if (mine === requests) {
      panel.removeAttribute("aria-busy");
      delete panel.dataset.asking;
    }
  }
}

let known = { row: null, values: null, name: "" };
async function rowAsItIs(signal) {
  if (known.row !== state.row) {
    const { values, name } = await get("row", { row: state.row }, signal);
    known = { row: state.row, values, name };
  }
  return known.values;
}

/** The identifier of the row, such as "Client 00123", or its number. */
function title() {
  const name = known.row === state.row ? known.name : `row ${state.row}`;
  document.title = `flipset: ${name}`;
  return name[0].toUpperCase() + name.slice(1);
}

function draw(error = "") {
  const panel = $("case");
  if (state.row === null || said === null || shownRow !== state.row) {
    swap(panel, h("h2", { id: "case-title" }, state.row === null ? "One row" : title()), error ? h("p", { class: "bad" }, error)
      : h("p", { class: "calm" }, state.row === null ? "Choose a row of the table to see which changes would flip its decision." : ""));
    return;
  }
  const e = said.explanation;
  const where = panel.scrollTop;
  swap(panel,
    h("div", { class: "case-head" },
      h("h2", { id: "case-title" }, title()),
      isChanged() && h("span", { class: "badge" }, "changed"),
      isChanged() && h("button", { type: "button", class: "quiet", "data-key": "reset", onclick: () => change({ ...UNCHANGED }) }, "Reset all"),
      h("button", { type: "button", class: "quiet", "data-key": "link", onclick: copy }, "Copy link")),
    error && h("p", { class: "bad", role: "alert" }, error),
    h("div", { class: "columns" },
      h("div", { class: "column", id: "answer" },
        verdict(said),
        said.text.broken && h("p", { class: "note", id: "broken" }, said.text.broken),
        h("div", { class: "case-head" }, h("h3", { id: "headline" }, said.text.headline), wants()),
        options(said, features, all, () => { all = true; draw(); }),
        reasons(said),
        proof(said, about.outcomes)),
      h("div", { class: "column" },
        h("h3", {}, "What if"),
        h("p", { class: "muted" }, "Change a value, hold a feature fixed, or narrow its allowed range; the answer is updated. The bars show the population, the mark the value in the table."),
        rules(),
        controls(about.features, base, said.explanation.row))));
  panel.scrollTop = where;
}

/** The constraints between columns: options keep them, or keep to the violation of the row. */
function rules() {
  if (!about.constraints.length) return null;
  const more = about.constraints.length - RULES;
  return h("p", { class: "muted", id: "rules" }, `Constraints between columns: ${about.constraints.slice(0, RULES).join("; ")}${more > 0 ? `; ${count(more)} more` : ""}.`);
}

function verdict(said) {
  const e = said.explanation;
  const score = typeof e.score === "number" ? e.score : e.score === "inf" ? Infinity : -Infinity;
  const finite = [0, 1, score, e.threshold].filter(Number.isFinite);
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const x = (value) => `${Math.max(0, Math.min(100, (100 * (value - low)) / (high - low)))}%`;
  return h("div", { class: `verdict ${said.text.favorable ? "is-yes" : "is-no"}` },
    h("p", {}, "Decision: ", h("strong", { class: said.text.favorable ? "yes" : "no", id: "decision" }, said.text.decision),
      h("span", { class: "muted" }, ` (${said.text.scores})`)),
    h("div", { class: "score", "aria-hidden": "true" },
      h("div", { class: "score-fill", style: { width: x(score) } }),
      h("div", { class: "score-line", style: { left: x(e.threshold) } })));
}

function wants() {
  const most = h("select", { "aria-label": "Largest number of changes", "data-key": "most",
    onchange: (event) => change({ most: event.target.value === "" ? null : Number(event.target.value) }) },
  h("option", { value: "" }, "any number of changes"),
  [1, 2, 3, 4].map((n) => h("option", { value: String(n) }, `at most ${n === 1 ? "1 change" : `${n} changes`}`)));
  most.value = state.most === null ? "" : String(state.most);
  const objective = h("select", { "aria-label": "Objective", "data-key": "objective",
    onchange: (event) => change({ objective: event.target.value }) },
  h("option", { value: "size" }, "fewest changes"), h("option", { value: "cost" }, "cheapest changes"));
  objective.value = state.objective;
  return h("span", { class: "wants" }, most, objective);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(location.href);
    tell("The link is copied. It opens this row with the same changes.");
  } catch {
    tell(location.href);
  }
}
