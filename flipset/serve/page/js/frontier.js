// The frontier of two features: all smallest pairs of values, with a point to drag along it.

import { post } from "./api.js";
import { h, s, show, swap, tell } from "./dom.js";
import { exact } from "./scale.js";
import { asked, change, state } from "./state.js";
import { cell, label, titled } from "./words.js";

const W = 320;
const H = 220;
const PAD = { left: 46, right: 14, top: 12, bottom: 34 };

export function frontier(one) {
  const place = h("div", { class: "staircase" });
  const button = h("button", { type: "button", class: "quiet", "data-key": `frontier ${one.flipset.join(" ")}`, onclick: open }, "Show all combinations");
  async function open() {
    try {
      const found = await post("frontier", { ...asked(), features: one.flipset });
      swap(place, chart(found, one));
      place.querySelector("[role=slider]")?.focus({ preventScroll: true });
    } catch (error) {
      tell(error.message);
    }
  }
  place.append(button);
  return place;
}

function chart(found, one) {
  const points = found.points;
  const [a, b] = found.features;
  const span = (i) => {
    const all = [found.before[i], ...points.map((point) => point[i])].filter((value) => typeof value === "number");
    return [Math.min(...all), Math.max(...all)];
  };
  if (![0, 1].every((i) => points.every((point) => typeof point[i] === "number"))) {
    return h("ul", {}, points.map((point) => h("li", {}, `${label(a)}: ${cell(a, point[0])}, ${label(b)}: ${cell(b, point[1])}`)));
  }
  const [xs, ys] = [span(0), span(1)];
  const x = (value) => PAD.left + ((W - PAD.left - PAD.right) * (value - xs[0])) / (xs[1] - xs[0] || 1);
  const y = (value) => H - PAD.bottom - ((H - PAD.top - PAD.bottom) * (value - ys[0])) / (ys[1] - ys[0] || 1);
  const target = one.changes.map((c) => c.after);
  let at = Math.max(0, points.findIndex((point) => point[0] === target[0] && point[1] === target[1]));
  const handle = s("circle", { class: "handle", r: 8, tabindex: 0, role: "slider", "data-key": `handle ${a} ${b}`,
    "aria-label": `Smallest values of ${label(a)} and ${label(b)}`, "aria-valuemin": 0, "aria-valuemax": points.length - 1 });
  const words = h("p", { class: "pair", "aria-live": "polite" });
  const how = new Map(one.changes.map((c) => [c.feature, c.how]));
  function move(to) {
    at = Math.max(0, Math.min(points.length - 1, to));
    const [p, q] = points[at];
    handle.setAttribute("cx", x(p));
    handle.setAttribute("cy", y(q));
    handle.setAttribute("aria-valuenow", at);
    const text = `${label(a)} ${how.get(a) ?? ""} ${exact(p)}, ${label(b)} ${how.get(b) ?? ""} ${exact(q)}`;
    handle.setAttribute("aria-valuetext", text);
    words.textContent = text;
  }
  function nearest(event) {
    const box = picture.getBoundingClientRect();
    const [px, py] = [((event.clientX - box.left) * W) / box.width, ((event.clientY - box.top) * H) / box.height];
    const far = points.map(([p, q]) => (x(p) - px) ** 2 + (y(q) - py) ** 2);
    move(far.indexOf(Math.min(...far)));
  }
  handle.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -points.length, End: points.length }[event.key];
    if (step) { move(at + step); event.preventDefault(); }
  });
  const path = points.flatMap(([p, q], i) => (i ? [`H${x(p)}`, `V${y(q)}`] : [`M${x(p)},${y(q)}`])).join("");
  const picture = s("svg", { class: "chart", viewBox: `0 0 ${W} ${H}`, role: "group", "aria-label": `Smallest values of ${label(a)} and ${label(b)}, ${points.length === 1 ? "1 pair" : `${points.length} pairs`}` },
    s("path", { class: "axis", d: `M${PAD.left},${PAD.top}V${H - PAD.bottom}H${W - PAD.right}` }),
    s("path", { class: "stairs", d: path }),
    points.length <= 60 && points.map(([p, q]) => s("circle", { class: "dot", r: 2, cx: x(p), cy: y(q) })),
    s("text", { x: (W + PAD.left) / 2, y: H - 4, class: "label" }, titled(a)),
    s("text", { x: 12, y: (H - PAD.bottom) / 2, class: "label", transform: `rotate(-90 12 ${(H - PAD.bottom) / 2})` }, titled(b)),
    ...[[xs[0], "start"], [xs[1], "end"]].map(([value, anchor]) => s("text", { x: x(value), y: H - PAD.bottom + 14, class: `tick ${anchor}` }, show(value))),
    ...[[ys[0], 0], [ys[1], 8]].map(([value, down]) => s("text", { x: PAD.left - 5, y: y(value) + down, class: "tick end" }, show(value))),
    handle);
  picture.addEventListener("pointerdown", (event) => {
    picture.setPointerCapture(event.pointerId);
    nearest(event);
    picture.addEventListener("pointermove", nearest);
    event.preventDefault();
  });
  for (const name of ["pointerup", "pointercancel"]) {
    picture.addEventListener(name, () => picture.removeEventListener("pointermove", nearest));
  }
  move(at);
  return [picture, words, h("button", { type: "button", class: "quiet", onclick: () => {
    change({ values: { ...state.values, [a]: points[at][0], [b]: points[at][1] } });
  } }, "Try these values")];
}
