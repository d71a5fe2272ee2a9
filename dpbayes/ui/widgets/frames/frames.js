// Draws what belongs to the hand's place while it moves, from what the server has sent for every stop of the slider.
let frames = null; // those of the page that is shown
const TOKEN = 16; // bytes
const HEADLINE = ".st-key-headline h2";

export default function ({ data }) {
  frames = new Frames(data);
  const mine = frames;
  return () => {
    if (frames === mine) frames = null;
  };
}

// A module is read once for a page's life.
document.addEventListener("dpbayes-hand", (event) => {
  if (frames?.slider === event.detail.slider && frames.show(event.detail.text)) event.preventDefault();
});

class Frames {
  constructor(data) {
    const bytes = new Uint8Array(data); // a copy begins where its memory does, as numbers have to
    const text = (start, end) => new TextDecoder().decode(bytes.subarray(start, end));
    const end = TOKEN + 4 + new DataView(bytes.buffer).getUint32(TOKEN, true);
    this.token = text(0, TOKEN);
    Object.assign(this, JSON.parse(text(TOKEN + 4, end)));
    this.numbers = new Float32Array(bytes.buffer, end);
  }

  show(text) {
    const shown = this.shown[text];
    if (!shown) return false;
    const charts = Object.keys(shown).filter(Boolean).map((key) => [this.chart(key), shown[key]]);
    if (charts.some(([chart]) => !chart)) return false;
    document.body.dataset.hand = "";
    for (const [chart, figure] of charts) {
      chart.dispatchEvent(new CustomEvent("dpbayes-frame", { detail: this.whole(figure) }));
    }
    this.say(shown[""]);
    return true;
  }

  // The chart of this name, if it is of the same settings.
  chart(key) {
    return document.querySelector(`.dpbayes-chart[data-name="${key}"][data-frames="${this.token}"]`);
  }

  // With numbers in the places that name them.
  whole(value) {
    if (Array.isArray(value)) return value.map((inner) => this.whole(inner));
    if (value === null || typeof value !== "object") return value;
    if (value.$) return this.numbers.subarray(value.$[0], value.$[0] + value.$[1]);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.whole(inner)]));
  }

  // A sentence that is more than text waits for the server.
  say(sentence) {
    const texts = document.createTreeWalker(document.querySelector(HEADLINE) ?? new Text(), NodeFilter.SHOW_TEXT);
    const first = texts.nextNode();
    if (first && !texts.nextNode()) first.data = sentence;
  }
}
