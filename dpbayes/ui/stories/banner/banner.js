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

function come({ at: asked, order, presents }, end, before) {
  const at = presents ? "" : asked; // what is presented is all there is
  if (order !== last || performance.now() > end) return;
  const main = document.querySelector("[data-testid=stMain]");
  const part = at ? document.querySelector(`.st-key-${CSS.escape(at)}`) : main;
  const running = document.querySelector("[data-test-script-state=running]");
  const place = part && at ? part.getBoundingClientRect().top + main.scrollTop : 0;
  if (part && !running && place === before) main.scrollTo({ top: at ? place - above() : first(main) });
  else setTimeout(() => come({ at: asked, order, presents }, end, running || !part ? null : place), REST);
}

// Where the page begins: in a low window at the banner, lest the picture be below it.
function first(main) {
  const banner = document.querySelector(".st-key-story");
  const isLow = banner && matchMedia("(max-height: 600px)").matches;
  return isLow ? banner.getBoundingClientRect().top + main.scrollTop - height(".stAppHeader") - 4 : 0;
}

// What stays above the page while it scrolls.
function above() {
  const isStuck = getComputedStyle(document.querySelector("[data-testid=stLayoutWrapper]:has(> .st-key-over)")).position;
  return 24 + height(".stAppHeader") + (isStuck === "sticky" ? height(".st-key-story") : 0);
}

function height(selector) {
  return document.querySelector(selector)?.getBoundingClientRect().height ?? 0;
}

document.addEventListener("keydown", (e) => {
  const key = TURNS[e.key];
  if (!presents || !key || e.ctrlKey || e.altKey || e.metaKey || !document.querySelector(".st-key-present")) return;
  const isTyped = e.composedPath()[0].closest?.("input, textarea, select, [role=slider], [contenteditable=true]");
  if (isTyped && key !== "Escape") return; // of a slider, the arrows move it
  e.preventDefault();
  tell(key);
});
