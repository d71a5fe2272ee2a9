// Begins each step at the top of its page, and tells which keys turn the steps of a presentation.
const TURNS = { ArrowLeft: -1, PageUp: -1, ArrowRight: 1, PageDown: 1 };
let shown = ""; // the step that is shown, and whether it is presented
let aim = 0; // the step that the presses lead to, which the server may not have opened yet
let now = { presents: false };
let tell = () => {};

export default function ({ data, setTriggerValue }) {
  now = data;
  tell = (key) => setTriggerValue("key", key);
  const place = `${data.story} ${data.step} ${data.presents}`;
  if (place === shown) return;
  shown = place;
  aim = data.step;
  document.querySelector("[data-testid=stMain]").scrollTo({ top: 0 });
  // Boards are as high as the window leaves them, which is another height in a presentation.
  for (const later of [100, 400, 1000]) setTimeout(() => dispatchEvent(new Event("resize")), later);
}

// A number that is typed anywhere else is a guess.
document.addEventListener("keydown", ({ key, target, ctrlKey, altKey, metaKey }) => {
  const box = document.querySelector(".st-key-story-guess input");
  const isHere = target.closest("input, textarea, select, [role=slider], [contenteditable=true]");
  if (box && !isHere && !ctrlKey && !altKey && !metaKey && /^[-.0-9]$/.test(key)) box.focus();
});

document.addEventListener("keydown", (event) => {
  const isOpen = now.presents && document.querySelector(".st-key-present");
  const turn = TURNS[event.key];
  if (!isOpen || (!turn && event.key !== "Escape") || event.ctrlKey || event.altKey || event.metaKey) return;
  const inside = (selector) => event.composedPath()[0].closest?.(selector);
  if (inside("[role=menu]") || document.fullscreenElement) return; // there, Escape closes what is open
  if (turn && inside("input, textarea, select, [role=slider], [contenteditable=true]")) return; // arrows move a slider
  event.preventDefault();
  if (!turn) return tell("Escape");
  aim = Math.min(Math.max(aim + turn, 1), now.places);
  if (aim !== now.step) tell(aim);
});
