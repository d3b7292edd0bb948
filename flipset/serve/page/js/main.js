// The entry point of the page.

import { follow, get, post } from "./api.js";
import * as cases from "./case.js";
import { $, count, debounce, plural, tell } from "./dom.js";
import { change, listen, state } from "./state.js";
import * as table from "./table.js";
import * as whole from "./whole.js";
import { learn } from "./words.js";

function look() {
  document.body.dataset.view = state.view;
  for (const button of document.querySelectorAll(".views button")) {
    button.setAttribute("aria-current", String(button.dataset.view === state.view));
  }
}

async function start() {
  for (const button of document.querySelectorAll(".views button")) {
    button.addEventListener("click", () => change({ view: button.dataset.view }));
  }
  listen(look);
  look();
  const about = await get("about");
  learn(about);
  document.title = `flipset: ${about.model}`;
  $("what").textContent = `${about.model} on ${plural(about.rows, "row")} of ${about.data}`;
  table.start(about);
  cases.start(about);
  whole.start(about);
  const again = debounce(150, () => { table.refresh(); whole.refresh(); });
  const button = $("background");
  button.addEventListener("click", async () => {
    try {
      show(await post("background", { everything: button.dataset.everything === "true" }));
    } catch (error) {
      tell(error.message);
    }
  });
  const show = (now) => {
    button.hidden = !now.may_explain_all || Boolean(now.failure);
    button.dataset.everything = String(!now.background);
    button.textContent = now.background ? "Stop explaining all rows" : "Explain all rows";
    $("progress").textContent = now.failure ? `stopped: ${now.failure}`
      : now.explained === now.rows ? `all ${plural(now.rows, "row")} explained with ${plural(now.questions, "query")}`
        : `${count(now.explained)} of ${plural(now.rows, "row")} explained`;
    again();
  };
  await follow(show);
}

start().catch((error) => tell(error.message));
