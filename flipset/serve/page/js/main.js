// The page begins here.

import { follow, get } from "./api.js";
import * as cases from "./case.js";
import { $, plural, quietly, show, tell } from "./dom.js";
import { change, listen, state } from "./state.js";
import * as table from "./table.js";
import * as whole from "./whole.js";

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
  document.title = `flipset: ${about.model}`;
  $("what").textContent = `${about.model} on ${plural(about.rows, "row")} of ${about.data}`;
  table.start(about);
  cases.start(about);
  whole.start(about);
  const again = quietly(150, () => { table.refresh(); whole.refresh(); });
  follow((now) => {
    $("progress").textContent = now.failure ? `stopped: ${now.failure}`
      : now.explained === now.rows ? `all ${show(now.rows)} rows explained, ${show(now.questions)} questions`
        : `${show(now.explained)} of ${show(now.rows)} rows explained`;
    again();
  });
}

start().catch((error) => tell(error.message));
