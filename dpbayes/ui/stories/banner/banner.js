// Scrolls to the part of the page that a step is about, once, when the page has come to rest; and while a story is
// presented, tells which keys turn its steps.
const PATIENCE = 10_000; // milliseconds until the part must be there
const REST = 150;
const TURNS = { ArrowLeft: "back", PageUp: "back", ArrowRight: "next", PageDown: "next", Escape: "Escape" };
let last = null;
let presents = false;
let tell = () => {};

export default function ({ data, setTriggerValue }) {
  presents = data.presents;
  tell = (key) => setTriggerValue("key", key);
  if (data.order === last) return; // drawn once more
  last = data.order;
  come(data, performance.now() + PATIENCE, null);
}

function come({ at, order }, end, before) {
  if (order !== last || performance.now() > end) return;
  const main = document.querySelector("[data-testid=stMain]");
  const part = at ? document.querySelector(`.st-key-${CSS.escape(at)}`) : main;
  const running = document.querySelector("[data-test-script-state=running]");
  const place = part && at ? part.getBoundingClientRect().top + main.scrollTop : 0;
  if (part && !running && place === before) main.scrollTo({ top: at ? place - above() : 0 });
  else setTimeout(() => come({ at, order }, end, running || !part ? null : place), REST);
}

// What stays above the page while it scrolls.
function above() {
  const stuck = [".stAppHeader", ".st-key-story"].map((name) => document.querySelector(name));
  return stuck.reduce((sum, part) => sum + (part?.getBoundingClientRect().height ?? 0), 24);
}

document.addEventListener("keydown", (e) => {
  const key = TURNS[e.key];
  if (!presents || !key || e.ctrlKey || e.altKey || e.metaKey || !document.querySelector(".st-key-present")) return;
  const isTyped = e.composedPath()[0].closest?.("input, textarea, select, [role=slider], [contenteditable=true]");
  if (isTyped && key !== "Escape") return; // of a slider, the arrows move it
  e.preventDefault();
  tell(key);
});
