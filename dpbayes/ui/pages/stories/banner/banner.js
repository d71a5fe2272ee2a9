// Scrolls to the part of the page that a step is about: once it stands still, and again where it has moved when the page
// has come to rest, unless the person went elsewhere before; and while a story is presented, tells which keys turn its steps.
const PATIENCE = 10_000; // milliseconds of rest until the part must be there, however long the page took to rest
const REST = 150;
const AGAIN = 500; // milliseconds after which a step that is not there yet is asked for again
const MOST_AWAY = 4; // how often in a row no story may be presented until the presses count no more
const STILL = 600; // milliseconds after which a part is scrolled to although its page still works
const TURNS = { ArrowLeft: -1, PageUp: -1, ArrowRight: 1, PageDown: 1, Escape: 0 };
let last = null;
let presents = false;
let step = 1, places = 1; // where the story is, and how many places it has
let aim = null; // where the presses lead that are on their way; all count, however slow the page is
let sent = null, later = 0;
let isElsewhere = false;
let tell = () => {};

export default function ({ data, setTriggerValue }) {
  presents = data.presents;
  tell = (key) => setTriggerValue("key", key);
  [step, places] = [data.step, data.places];
  if (aim === step || !presents) aim = null;
  const order = `${data.order}${presents ? " presented" : ""}`;
  if (order === last) return; // drawn once more
  last = order;
  isElsewhere = false;
  if (presents) document.querySelector("[data-testid=stMain]").scrollTo({ top: 0 }); // wherever the page was scrolled to
  come({ ...data, order }, performance.now() + PATIENCE);
}

// `before` is where the part was last seen, `still` for how long it has been there, `there` where it was scrolled to.
function come({ at: target, alone, order, presents }, end, { before = null, still = 0, there = null } = {}) {
  const at = presents ? "" : target; // what is presented is all there is
  if (presents) unfold(alone);
  const running = isRunning();
  if (order !== last || isElsewhere || (!running && performance.now() > end)) return;
  const main = document.querySelector("[data-testid=stMain]");
  const part = at ? document.querySelector(`.st-key-${CSS.escape(at)}`) : main;
  const place = part && at ? part.getBoundingClientRect().top + main.scrollTop : 0;
  still = part && place === before ? still + REST : 0;
  const rests = still > 0 && !running;
  if (rests || (at && still >= STILL && place !== there)) {
    main.scrollTo({ top: at ? place - above() : presents ? 0 : first(main) });
    if (presents) dispatchEvent(new Event("resize")); // charts are as high as the window leaves them
    there = place;
  }
  if (rests) return;
  const until = running ? performance.now() + PATIENCE : end;
  const data = { at: target, alone, order, presents };
  setTimeout(() => come(data, until, { before: part ? place : null, still, there }), REST);
}

// A room sees what is in a folded part that is presented.
function unfold(alone) {
  const part = alone && document.querySelector(`.st-key-${CSS.escape(alone)}`);
  if (!part || isRunning()) return;
  const folded = part.querySelector("details:not([open])") ?? part.closest("details:not([open])");
  folded?.querySelector("summary").click();
}

// Where the page begins: in a low window below the bar, lest the picture be below it. The banner itself may be stuck.
function first(main) {
  const bar = document.querySelector(".st-key-bar");
  const isLow = bar && matchMedia("(max-height: 600px)").matches;
  return isLow ? bar.getBoundingClientRect().bottom + main.scrollTop - height(".stAppHeader") : 0;
}

const isRunning = () => document.querySelector("[data-test-script-state=running]") !== null;

// Whether no story is presented; for a moment it looks so, too, when one page gives way to the next.
const isAway = () => !document.querySelector(".st-key-present") && !isRunning();

// Tell where the presses lead, and again once the page rests elsewhere: of two presses in one moment the server hears one.
function turn(away = 0) {
  if (aim === step && !isRunning()) aim = null;
  if (aim === null) return;
  away = isAway() ? away + 1 : 0;
  if (away > MOST_AWAY) return void (aim = null);
  if (!away && (!isRunning() || aim !== sent)) tell((sent = aim));
  clearTimeout(later);
  later = setTimeout(turn, AGAIN, away);
}

// What stays above the page while it scrolls.
function above() {
  const isStuck = getComputedStyle(document.querySelector("[data-testid=stLayoutWrapper]:has(> .st-key-over)")).position;
  return 24 + height(".stAppHeader") + (isStuck === "sticky" ? height(".st-key-story") : 0);
}

function height(selector) {
  return document.querySelector(selector)?.getBoundingClientRect().height ?? 0;
}

// A page may work for long: whoever scrolls or touches it meanwhile stays where they are. A guess is made in the banner.
for (const deed of ["wheel", "touchmove", "pointerdown", "keydown"])
  document.addEventListener(
    deed,
    (e) => {
      const isInBanner = e.composedPath().some((node) => node.classList?.contains("st-key-over"));
      if (deed === "wheel" || deed === "touchmove" || !isInBanner) isElsewhere = true;
    },
    { capture: true, passive: true },
  );

document.addEventListener("keydown", (e) => {
  const key = TURNS[e.key];
  if (!presents || key === undefined || e.ctrlKey || e.altKey || e.metaKey) return;
  const at = (selector) => e.composedPath()[0].closest?.(selector);
  if (at("[role=menu]")) return; // of the menu with the themes, Escape closes it
  if (at("input, textarea, select, [role=slider], [contenteditable=true]") && key) return; // arrows move a slider
  const away = aim === null && isAway();
  if (away && !key) return;
  if (!away) e.preventDefault();
  if (!key) {
    aim = null;
    return tell("Escape");
  }
  aim = Math.min(Math.max((aim ?? step) + key, 1), places);
  turn();
});
