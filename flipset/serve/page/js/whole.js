// The summary of the table: changes needed, features in options and in reasons, by group. Every bar is a filter.

import { get } from "./api.js";
import { $, brief, count, h, plural, share, show, swap, tell } from "./dom.js";
import { change, state } from "./state.js";

let about;
let by = "";
let summary = null;
let part = "some";

export function start(given) {
  about = given;
  draw();
  refresh();
}

export async function refresh() {
  try {
    summary = await get("summary", { by });
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
  const counted = all.rows - all.errors;
  swap(panel,
    h("h2", { id: "whole-title" }, "The whole table"),
    h("p", { class: "muted" }, `${plural(all.rows, "row")} explained`, all.errors ? `, ${plural(all.errors, "error")}` : "",
      all.mean_size === null ? "" : `; ${brief(all.mean_size)} changes needed on average`),
    h("div", { class: "columns" },
      h("div", { class: "column" },
        h("h3", {}, "Changes needed"),
        bars(all.sizes.map(({ size, rows }) => [plural(size, "change"), rows / counted, plural(rows, "row"), { size: show(size) }])
          .concat(all.none ? [["no option", all.none / counted, plural(all.none, "row"), { size: "none" }]] : [])),
        groups()),
      h("div", { class: "column" },
        h("h3", {}, "Features"),
        h("div", { class: "segments", role: "group", "aria-label": "Where features are counted" },
          [["some", "in an option"], ["all", "in every option"], ["reason", "in a reason"]].map(([key, words]) =>
            h("button", { type: "button", "aria-pressed": String(part === key), "data-key": `part ${key}`, onclick: () => { part = key; draw(); } }, words))),
        bars(all.features.filter((one) => one[part] > 0).sort((a, b) => b[part] - a[part])
          .map((one) => [one.name, one[part], "of the rows", { feature: one.name, part }])))));
}

function bars(entries) {
  return h("ul", { class: "barlist" }, entries.map(([words, part, what, query]) => h("li", {},
    h("button", { type: "button", "data-key": `bar ${words}`, onclick: () => filter(query), title: `Show these rows: ${words}` },
      h("span", { class: "bar-name" }, words),
      h("span", { class: "bar" }, h("span", { class: "bar-fill", style: { width: `${100 * part}%` } })),
      h("span", { class: "bar-value" }, share(part), h("span", { class: "muted" }, ` ${what}`))))));
}

function groups() {
  if (!about.groups.length) return null;
  const chosen = h("select", { "aria-label": "Compare by", "data-key": "by", onchange: (event) => { by = event.target.value; refresh(); } },
    h("option", { value: "" }, "nothing"), about.groups.map((name) => h("option", { value: name }, name)));
  chosen.value = by;
  return [
    h("h3", {}, "Compare by ", chosen),
    by && h("table", { class: "steps" },
      h("thead", {}, h("tr", {}, [by, "rows", "no option", "average changes"].map((words, i) => h("th", { scope: "col", class: i ? "number" : null }, words)))),
      h("tbody", {}, summary.groups.map((group) => h("tr", {},
        h("td", {}, h("button", { type: "button", class: "quiet", "data-key": `group ${group.group}`, onclick: () => filter({ by, group: group.group }) }, group.group)),
        h("td", { class: "number" }, count(group.rows)),
        h("td", { class: "number" }, share(group.rows - group.errors ? group.none / (group.rows - group.errors) : 0)),
        h("td", { class: "number" }, group.mean_size === null ? "" : group.mean_size.toFixed(2)))))),
  ];
}
