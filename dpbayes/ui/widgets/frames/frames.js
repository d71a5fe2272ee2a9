// Draws what belongs to the hand's place while it moves, from what the server has sent for every stop of the slider.
const TOKEN = 16; // bytes; a message of no more offers frames
const WAIT = 300; // milliseconds that a page rests before its frames are requested
const TAGS = { h2: "h2", p: "[data-testid=stCaptionContainer] p" };
let frames = null; // those of the page that is shown
let request = null;

export default function ({ data, setTriggerValue }) {
  clearTimeout(request);
  if (data.byteLength === TOKEN) request = setTimeout(() => setTriggerValue("wanted", true), WAIT);
  if (data.byteLength === TOKEN) return () => clearTimeout(request);
  const mine = (frames = new Frames(data));
  document.body.dataset.frames = mine.token;
  return () => {
    if (frames !== mine) return;
    frames = null;
    delete document.body.dataset.frames;
  };
}

// This file is read once for a page's life.
document.addEventListener("dpbayes-hand", (event) => {
  if (frames?.slider === event.detail.slider && frames.show(event.detail)) event.preventDefault();
});

// Streamlit writes a text only where it differs from the one it wrote last: of what it left alone in the live part, that
// one is true again once the server has answered the hand. What stands beside it is answered later.
const LIVE = ["headline", "picture"];
const texts = new Map();
const written = new MutationObserver((changes) => changes.forEach(({ target }) => texts.delete(target)));
document.addEventListener("dpbayes-rests", () => {
  for (const [text, own] of texts) text.data = own;
  texts.clear();
  written.disconnect();
});

function write(text, sentence, isLive) {
  if (isLive && !texts.has(text)) texts.set(text, text.data);
  if (isLive) written.observe(text, { characterData: true });
  text.data = sentence;
  written.takeRecords(); // of what is written here
}

class Frames {
  constructor(data) {
    const bytes = new Uint8Array(data); // a copy begins where its memory does, as numbers have to
    const text = (start, end) => new TextDecoder().decode(bytes.subarray(start, end));
    const end = TOKEN + 4 + new DataView(bytes.buffer).getUint32(TOKEN, true);
    this.token = text(0, TOKEN);
    Object.assign(this, JSON.parse(text(TOKEN + 4, end)));
    this.numbers = new Float32Array(bytes.buffer, end);
    this.due = new Set(); // charts that wait for their turn
    this.coming = null;
  }

  // Show what belongs to a stop, or to a place between it and another; return whether all of it is here.
  show({ text, other, share }) {
    const frame = this.shown[text];
    const names = Object.keys(frame?.figures ?? {});
    if (!names.length || names.some((name) => !this.chart(name))) return false;
    for (const [place, sentence] of Object.entries(frame.sentences)) this.say(place, sentence);
    Object.assign(this, { frame, next: share ? this.shown[other] : null, share });
    const [first, ...others] = names;
    this.draw(first);
    for (const name of others) this.due.add(name);
    if (this.due.size) this.coming ??= requestAnimationFrame(() => this.drawNext());
    return true;
  }

  // One in each picture of the screen: the first is not to wait for the others. They take turns, however fast the hand.
  drawNext() {
    const [next] = this.due;
    this.due.delete(next);
    this.draw(next);
    this.coming = this.due.size ? requestAnimationFrame(() => this.drawNext()) : null;
  }

  draw(name) {
    const [figure, next] = [this.frame, this.next].map((frame) => this.whole(frame?.figures[name]));
    const detail = { figure: between(figure, next, this.share) };
    this.chart(name)?.dispatchEvent(new CustomEvent("dpbayes-frame", { detail }));
  }

  // The chart of this name, if it is of the same settings.
  chart(name) {
    return document.querySelector(`.dpbayes-chart[data-name="${name}"][data-frames="${this.token}"]`);
  }

  // With parts and numbers in the places that name them.
  whole(value) {
    if (Array.isArray(value)) return value.map((inner) => this.whole(inner));
    if (!value || typeof value !== "object") return value;
    if ("@" in value) return this.whole(this.parts[value["@"]]);
    if (value.$) return this.numbers.subarray(value.$[0], value.$[0] + value.$[1]);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.whole(inner)]));
  }

  // A sentence that is more than text waits for the server, and is faint until then.
  say(place, sentence) {
    const [container, tag] = place.split(" ");
    const shown = [...document.querySelectorAll(`.st-key-${container} ${TAGS[tag]}`)].at(-1);
    if (!shown || shown.textContent === sentence) return;
    const parts = document.createTreeWalker(shown, NodeFilter.SHOW_TEXT);
    const first = parts.nextNode();
    const isText = first && !parts.nextNode();
    if (isText) write(first, sentence, LIVE.includes(container));
    shown.toggleAttribute("data-former", !isText);
  }
}

// A figure with its lines between those of two figures, at a share of the way; the first one where they differ in kind.
function between(figure, other, share) {
  if (figure.data.length !== other?.data.length) return figure;
  const mixed = (value, next) => value + share * (next - value);
  const line = (values, next) =>
    values?.length === next?.length && values?.every?.(Number.isFinite) ? values.map((value, k) => mixed(value, next[k])) : values;
  const data = figure.data.map((trace, k) => ({ ...trace, x: line(trace.x, other.data[k].x), y: line(trace.y, other.data[k].y) }));
  const shapes = figure.layout.shapes?.map((shape, k) => {
    const place = mixed(shape.x0, other.layout.shapes?.[k]?.x0);
    return shape.x0 === shape.x1 && Number.isFinite(place) ? { ...shape, x0: place, x1: place } : shape;
  });
  return { ...figure, data, layout: { ...figure.layout, ...(shapes && { shapes }) } };
}
