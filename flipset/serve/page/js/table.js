// The table: only visible rows are in the document; the server filters and sorts.

import { get, latest } from "./api.js";
import { $, debounce, h, plural, show, swap, tell } from "./dom.js";
import { change, listen, state, UNCHANGED } from "./state.js";
import { cell as cellText, label } from "./words.js";

const HEIGHT = 34;
const PAGE = 100;
const AROUND = 12;
const DERIVED = [["@decision", "decision"], ["@score", "score"], ["@size", "changes"]];

const SIZES = [["", "any number of changes"], ["1", "1 change"], ["2", "2 changes"], ["3", "3 changes"], ["4", "4 changes"],
  ["none", "no option"], ["error", "errors"]];

let about;
let pages = new Map();
let total = 0;
let focused = null;
let body;
let count;
const fetchPage = new Map();

export function start(given) {
  about = given;
  swap($("filters"), filters());
  swap($("scroll"), grid());
  $("scroll").addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  new ResizeObserver(draw).observe($("scroll"));
  listen((parts) => {
    if ("query" in parts) {
      swap($("filters"), filters());
      swap($("scroll"), grid());
      reload();
    }
    else if ("row" in parts) draw();
  });
  reload();
}

/** Load the visible rows again after more rows were explained. */
export function refresh() {
  const seen = [...visiblePages()];
  pages = new Map([...pages].filter(([page]) => seen.includes(page)));
  for (const page of seen) load(page);
}

function reload() {
  pages = new Map();
  focused = null;
  $("scroll").scrollTop = 0;
  load(0);
}

// --- filters ---------------------------------------------------------------------------------------------------------

const ask = (parts) => change({ query: Object.fromEntries(
  Object.entries({ ...state.query, ...parts }).filter(([, value]) => value !== "" && value !== false)) });

function filters() {
  const query = state.query;
  const decision = (value, words) => h("button", {
    type: "button", "aria-pressed": String((query.decision ?? "") === value), "data-key": `decision ${value}`,
    onclick: () => ask({ decision: value }),
  }, words);
  const size = h("select", { "aria-label": "Changes needed", "data-key": "size", onchange: (event) => ask({ size: event.target.value }) },
    [...SIZES, ...(SIZES.some(([value]) => value === (query.size ?? "")) ? [] : [[query.size, `${query.size} changes`]])].map(([value, words]) =>
      h("option", { value, selected: (query.size ?? "") === value }, words)));
  size.value = query.size ?? "";
  const search = h("input", { type: "search", placeholder: "Search the table", "aria-label": "Search the table",
    "data-key": "search", value: query.search ?? "",
    oninput: debounce(250, (event) => ask({ search: event.target.value })) });
  const chips = [];
  if (query.feature) chips.push(chip(`${label(query.feature)} ${{ some: "in an option", all: "in every option", reason: "in a reason" }[query.part ?? "some"]}`, { feature: "", part: "" }));
  if (query.by) chips.push(chip(`${label(query.by)}: ${query.group}`, { by: "", group: "" }));
  count = h("output", { class: "count" }, total ? plural(total, "row") : "");
  return [
    h("div", { class: "segments", role: "group", "aria-label": "Decision" },
      decision("", "all"), decision("yes", about.outcomes.approved), decision("no", about.outcomes.declined)),
    size, search, chips, count,
  ];
}

const chip = (words, without) => h("button", { type: "button", class: "chip", onclick: () => ask(without),
  "aria-label": `Stop filtering by ${words}` }, words, h("span", { "aria-hidden": "true" }, " ×"));

// --- the grid --------------------------------------------------------------------------------------------------------

function grid() {
  const head = [["", "row"], ...DERIVED, ...about.columns.map((name) => [name, label(name)])].map(([key, words], i) => {
    const mine = (state.query.sort ?? "") === key;
    const numeric = i === 0 || key === "@score" || key === "@size" || about.numeric[i - 1 - DERIVED.length];
    return h("th", { scope: "col", class: numeric ? "number" : null,
      "aria-sort": mine && key ? (state.query.descending ? "descending" : "ascending") : null },
    h("button", { type: "button", "data-key": `sort ${key}`, onclick: () => sortBy(key) }, words,
      h("span", { class: "arrow", "aria-hidden": "true" }, mine && key ? (state.query.descending ? " ▾" : " ▴") : "")));
  });
  body = h("tbody", { onkeydown: walk });
  return h("table", { class: "grid", "aria-rowcount": about.rows, "aria-label": `Rows of ${about.data}` },
    h("thead", {}, h("tr", {}, head)), body);
}

function sortBy(key) {
  const mine = (state.query.sort ?? "") === key;
  ask({ sort: key, descending: mine ? !state.query.descending : key === "@size" });
}

function* visiblePages() {
  const first = Math.floor(Math.max(0, top() - AROUND) / PAGE);
  const last = Math.floor(Math.max(0, Math.min(total - 1, bottom() + AROUND)) / PAGE);
  for (let page = first; page <= last; page += 1) yield page;
}

const top = () => Math.floor($("scroll").scrollTop / HEIGHT);
const bottom = () => top() + Math.ceil($("scroll").clientHeight / HEIGHT);

async function load(page) {
  if (!fetchPage.has(page)) fetchPage.set(page, latest());
  try {
    const said = await fetchPage.get(page)((signal) =>
      get("rows", { ...state.query, start: page * PAGE, count: PAGE }, signal));
    if (!said) return;
    total = said.total;
    pages.set(page, said.rows);
    draw();
  } catch (error) {
    tell(error.message);
  }
}

function draw() {
  if (!body) return;
  if (count) count.textContent = plural(total, "row");
  const first = Math.max(0, top() - AROUND);
  const last = Math.min(total, bottom() + AROUND);
  const rows = [];
  for (let i = first; i < last; i += 1) {
    const page = pages.get(Math.floor(i / PAGE));
    rows.push(page?.[i % PAGE] ? line(page[i % PAGE], i) : blank(i));
  }
  const spacer = (height) => h("tr", { "aria-hidden": "true", class: "spacer" },
    h("td", { colspan: about.columns.length + 4, style: { height: `${height}px` } }));
  const held = body.contains(document.activeElement);
  body.replaceChildren(spacer(first * HEIGHT), ...rows, spacer(Math.max(0, total - last) * HEIGHT));
  if (!total) body.replaceChildren(h("tr", {}, h("td", { colspan: about.columns.length + 4, class: "empty" }, "No rows match.")));
  if (!body.querySelector("tr[tabindex='0']")) body.querySelector("tr[data-i]")?.setAttribute("tabindex", "0");
  if (held) body.querySelector("tr[tabindex='0']")?.focus({ preventScroll: true });
  for (const page of visiblePages()) if (!pages.has(page) && page * PAGE < Math.max(total, 1)) load(page);
}

/** A row that is being loaded; it can take the focus already. */
const blank = (i) => h("tr", { class: "blank", tabindex: i === focused ? "0" : "-1", "data-i": i, "aria-rowindex": i + 2 },
  h("td", { colspan: about.columns.length + 4 }, "…"));

function line(row, i) {
  const chosen = row.row === state.row;
  const reached = focused === null ? chosen || (i === 0 && state.row === null) : i === focused;
  return h("tr", {
    tabindex: reached ? "0" : "-1", "aria-selected": String(chosen), "aria-rowindex": i + 2, "data-i": i, "data-row": row.row,
    onclick: () => open(row, i),
  },
  h("td", { class: "number muted" }, row.row),
  h("td", {}, row.decision === null ? "" : h("span", { class: row.decision === about.favorable ? "yes" : "no" }, row.decision ? about.outcomes.approved : about.outcomes.declined)),
  h("td", { class: "number" }, row.score === null ? "" : row.score.toFixed(3)),
  h("td", { class: "number size", title: row.error || null }, needed(row)),
  row.cells.map((cell, j) => h("td", { class: about.numeric[j] ? "number" : null }, cell === null ? "" : cellText(about.columns[j], cell))));
}

function needed(row) {
  if (row.status === "optimal" || row.status === "incomplete") return show(row.size);
  return { waiting: "·", none: "none", stopped: "?", unproved: "?", error: "error" }[row.status];
}

function open(row, i) {
  focused = i;
  change({ row: row.row, ...UNCHANGED, view: "case" });
}

function walk(event) {
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -total, End: total };
  const at = Number(event.target.closest("tr")?.dataset.i ?? 0);
  if (event.key === "Enter" || event.key === " ") {
    const row = pages.get(Math.floor(at / PAGE))?.[at % PAGE];
    if (row) open(row, at);
  } else if (event.key in steps) {
    focused = Math.max(0, Math.min(total - 1, at + steps[event.key]));
    const scroll = $("scroll");
    const head = scroll.querySelector("thead").offsetHeight;
    if (focused * HEIGHT < scroll.scrollTop) scroll.scrollTop = focused * HEIGHT;
    if ((focused + 1) * HEIGHT + head > scroll.scrollTop + scroll.clientHeight) {
      scroll.scrollTop = (focused + 1) * HEIGHT + head - scroll.clientHeight;
    }
    draw();
  } else {
    return;
  }
  event.preventDefault();
}
