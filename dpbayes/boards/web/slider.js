// A slider and a box for one number. It tells its owner each place of the hand, and the value where the hand rests.
const REST = 250; // milliseconds without a move after which the hand rests
const POWER_OF_TEN = /^(10*|0\.0*1)$/;
const MOST_TICKS = 6; // numbers that have room below a slider
const still = matchMedia("(prefers-reduced-motion)");
const grouped = (text) => (/^\d{4,}$/.test(text) ? Number(text).toLocaleString("en") : text);
let sliders = 0;

class Slider {
  constructor(root, { moves, rests }) {
    Object.assign(this, { root, moves, rests, text: "", resting: null });
    const id = `dpbayes-slider-${(sliders += 1)}`;
    root.innerHTML = `
      <label for="${id}"></label>
      <span class="end low"></span>
      <div class="rail"><input type="range" id="${id}" min="0" step="1" aria-describedby="${id}-help">
        <div class="ticks" aria-hidden="true"></div></div>
      <span class="end high"></span>
      <input class="box" type="text" inputmode="decimal" maxlength="24" autocomplete="off" spellcheck="false">
      <p class="help" id="${id}-help"></p><p class="refusal" role="alert"></p>`;
    const find = (selector) => root.querySelector(selector);
    [this.range, this.box, this.rail, this.refusal] = ["[type=range]", ".box", ".ticks", ".refusal"].map(find);
    this.range.addEventListener("input", () => this.slide(Number(this.range.value)));
    this.range.addEventListener("pointerdown", () => (this.range.step = still.matches ? 1 : "any"));
    for (const kind of ["pointerup", "pointercancel", "change"]) this.range.addEventListener(kind, () => this.snap());
    this.box.addEventListener("change", () => this.typed());
    root.addEventListener("keydown", (event) => event.stopPropagation()); // a host may have keys of its own
  }

  // Take the stops, and the value unless the hand moves.
  receive({ label, help, ends, stops, low, high }, value) {
    const find = (selector) => this.root.querySelector(selector);
    Object.assign(this, { stops, low, high });
    find("label").textContent = label;
    find(".help").textContent = help;
    [find(".low").textContent, find(".high").textContent] = ends;
    this.box.setAttribute("aria-label", `${label} as a number`);
    this.range.max = stops.length - 1;
    this.rail.replaceChildren(...this.ticks());
    this.show(stops.includes(this.hand) ? this.hand : value);
  }

  ticks() {
    const isNamed = (text) => POWER_OF_TEN.test(text) || Number(text) === this.low || text === this.stops.at(-1);
    const marked = [...this.stops.keys()].filter((place) => isNamed(this.stops[place]) && this.stops[place] >= this.low);
    const shown = marked.length > MOST_TICKS ? marked.filter((_, k) => k % 2 === 0) : marked;
    return shown.map((place) => {
      const tick = Object.assign(document.createElement("i"), { textContent: grouped(this.stops[place]) });
      if (tick.textContent.length > 5) tick.style.translate = "-35%"; // not under the word behind the slider
      tick.style.left = `${(100 * place) / Math.max(1, this.stops.length - 1)}%`;
      return tick;
    });
  }

  show(text, place = this.stops.indexOf(text)) {
    this.text = text;
    this.range.value = place;
    this.range.setAttribute("aria-valuetext", text);
    this.root.style.setProperty("--part", place / Math.max(1, this.stops.length - 1));
    this.box.value = text;
    this.refuse("");
  }

  // A pointer may be between two stops: the value is that of the nearer one.
  slide(place) {
    const text = this.stops[Math.round(place)];
    this.hand = text;
    this.show(text, place);
    this.moves(place);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.rest(), REST);
  }

  snap() {
    if (this.range.step === "1") return;
    this.range.step = 1;
    this.slide(this.stops.indexOf(this.text));
  }

  rest() {
    clearTimeout(this.resting);
    if (this.range.step !== "1" || this.hand === undefined) return;
    this.rests(this.hand);
    this.hand = undefined;
  }

  typed() {
    const number = Number(this.box.value.trim());
    if (!this.box.value.trim() || !(number >= this.low && number <= this.high)) {
      return this.refuse(`Enter a number from ${grouped(String(this.low))} to ${grouped(String(this.high))}.`);
    }
    const stop = this.stops.find((text) => Number(text) === number);
    if (stop !== undefined) return this.slide(this.stops.indexOf(stop));
    if (this.rests(String(number)) === false) this.slide(this.nearest(number)); // nobody computes a further stop
  }

  nearest(number) {
    const far = this.stops.map((text) => Math.abs(Math.log(Number(text) / number)));
    return far.indexOf(Math.min(...far));
  }

  refuse(sentence) {
    this.refusal.textContent = sentence;
    this.box.toggleAttribute("aria-invalid", sentence !== "");
  }
}
