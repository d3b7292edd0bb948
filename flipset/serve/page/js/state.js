// The state of the page, kept in the URL: a link opens the same row with the same changes.

const listeners = new Set();

export const state = read();

function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  // A URL can be edited by hand: values of the wrong shape are ignored.
  const json = (name, otherwise) => {
    try {
      const found = JSON.parse(given.get(name));
      const fits = found !== null && typeof found === "object" && Array.isArray(found) === Array.isArray(otherwise);
      return fits ? found : otherwise;
    } catch {
      return otherwise;
    }
  };
  const count = (name, least) => {
    const found = given.has(name) ? Number(given.get(name)) : NaN;
    return Number.isInteger(found) && found >= least ? found : null;
  };
  return {
    row: count("row", 0),
    values: json("values", {}),
    fixed: json("fixed", []).filter((name) => typeof name === "string"),
    bounds: Object.fromEntries(Object.entries(json("bounds", {})).filter(([, pair]) => Array.isArray(pair) && pair.length === 2)),
    most: count("most", 1),
    objective: given.get("objective") === "cost" ? "cost" : "size",
    query: json("query", {}),
    view: ["table", "case", "whole"].includes(given.get("view")) ? given.get("view") : given.has("row") ? "case" : "table",
  };
}

function write() {
  const text = new URLSearchParams();
  if (state.row !== null) text.set("row", state.row);
  for (const name of ["values", "bounds", "query"]) {
    if (Object.keys(state[name]).length) text.set(name, JSON.stringify(state[name]));
  }
  if (state.fixed.length) text.set("fixed", JSON.stringify(state.fixed));
  if (state.most !== null) text.set("most", state.most);
  if (state.objective === "cost") text.set("objective", "cost");
  if (state.view !== "table") text.set("view", state.view);
  history.replaceState(null, "", `#${text}`);
}

/** Change the state, and tell the listeners which parts changed. */
export function change(parts) {
  Object.assign(state, parts);
  write();
  for (const listener of listeners) listener(parts);
}

export const listen = (listener) => listeners.add(listener);

/** Whether the request differs from the row as it is in the table. */
export const isChanged = () => Object.keys(state.values).length > 0 || state.fixed.length > 0
  || Object.keys(state.bounds).length > 0 || state.most !== null || state.objective === "cost";

export const UNCHANGED = { values: {}, fixed: [], bounds: {}, most: null, objective: "size" };

/** The request to the server. */
export const asked = () => ({
  row: state.row,
  values: state.values,
  fixed: state.fixed,
  bounds: state.bounds,
  max_changes: state.most,
  objective: state.objective,
});

addEventListener("hashchange", () => {
  const now = read();
  Object.assign(state, now);
  for (const listener of listeners) listener(now);
});
