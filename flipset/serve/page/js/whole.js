// The summary of the table: changes needed, features in options and in reasons, by group. Declined and approved rows are
// shown apart, the declined ones first. Every bar is a filter.

import { get } from "./api.js";
import { $, brief, count, h, plural, share, show, swap, tell } from "./dom.js";
import { change, state } from "./state.js";
import { cell, label } from "./words.js";

const SIDES = ["declined", "approved"];
const OTHERS = [["none", "no option"], ["stopped", "limit reached"], ["unproved", "not proved"]];

let about;
let by = "";
let reference = "";
let summary = null;
let side = "declined";
let part = "some";

export function start(given) {
  about = given;
  draw();
  refresh();
}

export async function refresh() {
  try {
    summary = await get("summary", { by, reference });
    draw();
  } catch (error) {
    tell(error.message);
  }
}

const filter = (parts) => change({ query: parts, view: innerWidth < 1100 ? "table" : state.view });

function draw() {
  const panel = $("whole");
  if (!summary || !summary.all.rows) {
    swap(panel, h("h2", { id: "whole-title" }, "The whole table"), h("p", { class: "calm" }, "No row has been explained yet."));
    return;
  }
  const all = summary.all;
  const one = all[side];
  const decision = one.decision ? "yes" : "no";
  swap(panel,
    h("h2", { id: "whole-title" }, "The whole table"),
    h("p", { class: "muted" }, `${plural(all.rows, "row")} explained: ${SIDES.map((name) => `${count(all[name].rows)} ${all[name].outcome}`).join(", ")}`,
      all.errors ? `, ${plural(all.errors, "error")}` : ""),
    h("div", { class: "segments", role: "group", "aria-label": "Rows that are summarized" }, SIDES.map((name) =>
      h("button", { type: "button", "aria-pressed": String(side === name), "data-key": `side ${name}`, onclick: () => { side = name; draw(); } },
        `${all[name].outcome} rows`))),
    one.rows ? h("div", { class: "columns" },
      h("div", { class: "column" },
        h("h3", {}, "Changes needed"),
        one.mean_size === null ? null : h("p", { class: "muted" }, `${brief(one.mean_size)} changes on average`),
        bars(one.sizes.map(({ size, rows }) => [plural(size, "change"), rows, { decision, size: show(size) }])
          .concat(OTHERS.filter(([status]) => one.statuses[status]).map(([status, words]) => [words, one.statuses[status], { decision, size: status }]))
          .map(([words, rows, query]) => [words, rows / one.rows, plural(rows, "row"), query]))),
      h("div", { class: "column" },
        h("h3", {}, "Features"),
        h("div", { class: "segments", role: "group", "aria-label": "Where features are counted" },
          [["some", "in an option"], ["all", "in every option"], ["reason", "in a reason"]].map(([key, words]) =>
            h("button", { type: "button", "aria-pressed": String(part === key), "data-key": `part ${key}`, onclick: () => { part = key; draw(); } }, words))),
        bars(one.features.filter((feature) => feature[part] > 0).sort((a, b) => b[part] - a[part])
          .map((feature) => [label(feature.name), feature[part], "of the rows", { decision, feature: feature.name, part }]))))
      : h("p", { class: "calm" }, `No ${one.outcome} row has been explained yet.`),
    groups());
}

function bars(entries) {
  return h("ul", { class: "barlist" }, entries.map(([words, part, what, query]) => h("li", {},
    h("button", { type: "button", "data-key": `bar ${words}`, onclick: () => filter(query), title: `Show these rows: ${words}` },
      h("span", { class: "bar-name" }, words),
      h("span", { class: "bar" }, h("span", { class: "bar-fill", style: { width: `${100 * part}%` } })),
      h("span", { class: "bar-value" }, share(part), h("span", { class: "muted" }, ` ${what}`))))));
}

// --- groups ----------------------------------------------------------------------------------------------------------

function groups() {
  if (!about.groups.length) return null;
  const chosen = h("select", { "aria-label": "Compare by", "data-key": "by",
    onchange: (event) => { by = event.target.value; reference = ""; refresh(); } },
  h("option", { value: "" }, "nothing"), about.groups.map((name) => h("option", { value: name }, label(name))));
  chosen.value = by;
  // What is shown is of the last answer, in which the column may still be another one.
  const shown = by && summary.tables ? [against(), compared()] : [];
  return h("div", {}, h("h3", {}, "Compare by ", chosen), shown);
}

function against() {
  const chosen = h("select", { "aria-label": "Reference group", "data-key": "reference",
    onchange: (event) => { reference = event.target.value; refresh(); } },
  summary.groups.map(({ group }) => h("option", { value: group }, cell(by, group))));
  chosen.value = summary.reference;
  return h("p", {}, "Reference group ", chosen);
}

/** The figures of all groups, with intervals: the texts come from the server, which the report and the terminal show, too. */
function compared() {
  const { notes, figures } = summary.tables[side];
  const decision = summary.all[side].decision ? "yes" : "no";
  const entry = (text, i, n) => (i ? h("td", { class: "number" }, text) : h("td", {},
    h("button", { type: "button", class: "quiet", "data-key": `group ${n} ${text}`, onclick: () => filter({ decision, by, group: summary.shown[n] }) }, text)));
  return [
    notes.map((text) => h("p", { class: "muted" }, text)),
    figures.map((one) => h("div", { class: "figure" },
      h("h4", {}, one.title),
      h("table", { class: "steps" },
        h("thead", {}, h("tr", {}, one.head.map((words, i) => h("th", { scope: "col", class: i ? "number" : null }, words || "group")))),
        h("tbody", {}, one.lines.map((line, n) => h("tr", {}, line.map((text, i) => entry(text, i, n)))))))),
  ];
}
