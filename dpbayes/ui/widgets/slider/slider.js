// A slider and a box with one value, which is sent while the slider moves. One text is on its way at a time: what the
// hand does meanwhile waits, and only the last of it is sent when Python has answered. Python's value is the truth for
// a hand at rest, and for a box in which nobody is typing.
const numbers = new WeakMap();
const PATIENCE = 2000; // after so many milliseconds without an answer the next text goes out all the same
// The hand rests after so many milliseconds without a move, at least and at most. In between it is a multiple of what
// answers took lately: a server that many hands keep busy has no time for what follows a rest.
const [REST, LONGEST_REST, TIMES, FADES] = [200, 1500, 3, 0.8];
const HOLD = 100; // Python receives a value that the browser has drawn itself once the slider was still for so long
const reduced = matchMedia("(prefers-reduced-motion)");
const POWER_OF_TEN = /^(10*|0\.0*1)$/;
const grouped = (text) => (/^\d{4,}$/.test(text) ? Number(text).toLocaleString("en") : text);

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".number");
  if (!numbers.has(root)) numbers.set(root, new NumberControl(root, data.seen));
  numbers.get(root).receive(data, setTriggerValue);
}

class NumberControl {
  constructor(root, seen) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    [this.slider, this.box, this.bubble] = ["[type=range]", ".box", "output"].map(this.find);
    this.seen = seen; // the number of the last text that Python has heard of
    this.sent = seen; // and of the last that was sent
    this.waiting = false;
    this.next = null;
    this.later = null; // a text that the browser has drawn, and Python has not heard of
    this.telling = null; // the text on its way
    this.typing = false;
    this.moved = false; // since the hand last rested
    this.followed = false; // by all that is on the screen, without Python
    this.movedAt = 0;
    this.still = null; // what tells of the rest, once it is under way
    this.posted = 0; // when the text on its way was sent
    this.took = 0; // milliseconds until an answer, lately
    this.slider.id = `number-${Math.random().toString(36).slice(2)}`;
    this.find(".tip").id = `${this.slider.id}-tip`;
    this.find("label").htmlFor = this.slider.id;
    this.slider.addEventListener("input", () => this.slide(Number(this.slider.value)));
    this.slider.addEventListener("pointerdown", () => (this.slider.step = reduced.matches ? 1 : "any"));
    this.box.addEventListener("input", () => (this.typing = true));
    this.box.addEventListener("blur", () => this.typed());
    root.addEventListener("keydown", (event) => this.key(event));
    this.watchTheHand();
  }

  // A hand that goes elsewhere has left the slider: what waits is told before what it does there, which may be to turn
  // the page. Streamlit takes what comes from a page that is being left for a wish to go back to it.
  watchTheHand() {
    const watch = new AbortController();
    const listen = (target, kind, hear) => {
      const heard = (event) => (this.root.isConnected ? hear(event) : watch.abort());
      target.addEventListener(kind, heard, { capture: true, signal: watch.signal });
    };
    for (const kind of ["pointerdown", "keydown"]) {
      listen(document, kind, (event) => event.composedPath().includes(this.root) || this.leave());
    }
    for (const kind of ["pointerup", "pointercancel"]) listen(document, kind, () => this.snap());
    listen(window, "popstate", () => this.forget());
  }

  // From Python

  receive(data, send) {
    this.send = send;
    this.name = data.name;
    const fresh = JSON.stringify([data.label, data.spoken, data.help, data.stops, data.disabled]);
    if (fresh !== this.drawn) this.draw(data);
    this.drawn = fresh;
    const anew = data.seen < this.seen; // the server has started anew, and has heard of nothing
    this.seen = data.seen;
    if (anew || data.seen > this.sent) this.sent = data.seen;
    if (data.seen < this.sent) return; // the answer to an earlier text: the hand is further by now
    this.settle();
    const since = this.followed ? performance.now() - this.movedAt : 0; // it was still before Python heard of it
    if (this.next !== null) this.post(this.next);
    else if (this.later === null) this.confirm(data.value);
    this.value = data.value;
    this.rests = data.rests;
    const still = Math.min(Math.max(REST, TIMES * this.took), LONGEST_REST) - since;
    if (this.rests && this.moved && !this.waiting) this.still ??= setTimeout(() => this.rest(), still);
  }

  draw({ label, spoken, help, stops, disabled }) {
    this.stops = stops.split(" ");
    this.last = Math.max(1, this.stops.length - 1);
    this.slider.max = this.stops.length - 1;
    this.slider.disabled = this.box.disabled = disabled;
    this.root.classList.remove("undrawn");
    this.root.classList.toggle("off", disabled);
    this.find("label").textContent = label;
    this.slider.setAttribute("aria-label", spoken);
    this.box.setAttribute("aria-label", `${spoken} as a number`);
    this.find(".help").setAttribute("aria-label", `What ${spoken} means`);
    this.find(".help").hidden = !help;
    this.find(".tip").textContent = help;
    for (const input of [this.slider, this.box]) input.setAttribute("aria-describedby", help ? this.find(".tip").id : "");
    const [low, high] = this.root.querySelectorAll(".ends span");
    [low.textContent, high.textContent] = [grouped(this.stops[0]), grouped(this.stops.at(-1))];
    this.find(".ticks").replaceChildren(...this.ticks());
    if (this.stops.includes(this.text)) this.show(this.text); // its place among other stops is another
  }

  ticks() {
    const places = [...this.stops.keys()].filter((place) => POWER_OF_TEN.test(this.stops[place]));
    return places.map((place) => {
      const tick = document.createElement("i");
      tick.style.left = `${(100 * place) / this.last}%`;
      return tick;
    });
  }

  show(text) {
    this.text = text;
    this.part = this.stops.indexOf(text);
    this.slider.setAttribute("aria-valuetext", text);
    this.bubble.textContent = grouped(text);
    if (!this.typing) this.box.value = text;
  }

  // To Python

  // A pointer may be between two stops. The value is that of the nearer one; the picture is between theirs.
  slide(place) {
    const text = this.stops[Math.round(place)];
    if (text !== this.text) this.move(text, place);
    else if (this.followed) {
      this.lead(place);
      if (this.later !== null) this.offerLater(text);
    }
    this.part = place;
  }

  snap() {
    if (this.slider.step === "1") return;
    this.slider.step = 1;
    const place = this.stops.indexOf(this.text);
    this.part = place;
    if (this.followed) this.lead(place);
  }

  // Have the pictures follow the hand; return whether they do.
  lead(place) {
    const nearest = Math.round(place);
    const other = this.stops[nearest + Math.sign(place - nearest)];
    const detail = { slider: this.name, text: this.stops[nearest], other, share: Math.abs(place - nearest) };
    return !document.dispatchEvent(new CustomEvent("dpbayes-hand", { detail, cancelable: true }));
  }

  set part(place) {
    this.slider.value = place;
    this.root.style.setProperty("--part", place / this.last);
  }

  move(text, place = this.stops.indexOf(text)) {
    this.typing = false;
    this.show(text);
    this.followed = this.lead(place);
    this.movedAt = performance.now();
    if (this.followed) this.offerLater(text);
    else this.offer(text);
    // By these the style knows what is of a former place: all that follows the hand, or what the browser cannot draw.
    document.body.toggleAttribute("data-followed", this.followed);
    document.body.toggleAttribute("data-hand", this.followed);
  }

  offerLater(text) {
    clearTimeout(this.pause);
    clearTimeout(this.still);
    this.still = null;
    this.next = null; // of what waits, this is the last
    this.later = text;
    this.pause = setTimeout(() => this.offer(text), HOLD);
  }

  // The value is Python's, and so is all that followed the hand.
  confirm(text) {
    this.show(text);
    if (!this.followed) return; // a hand may move another slider
    this.followed = false;
    document.body.removeAttribute("data-hand");
    document.dispatchEvent(new Event("dpbayes-rests"));
  }

  typed() {
    if (this.typing) this.offer(this.box.value);
    this.typing = false;
  }

  key(event) {
    event.stopPropagation(); // Streamlit's own "r" and "c" must not hear it
    if (event.key === "Enter" && event.target === this.box) this.typed();
    if (event.key === "Escape") this.find(".help").blur();
  }

  offer(text) {
    clearTimeout(this.pause);
    this.later = null;
    if (this.waiting) this.next = text;
    else this.post(text);
  }

  post(text) {
    clearTimeout(this.patience);
    clearTimeout(this.still);
    this.still = null;
    this.moved = true;
    this.next = null;
    this.waiting = true;
    this.sent += 1;
    this.telling = text;
    this.posted = performance.now();
    this.patience = setTimeout(() => {
      this.waiting = false;
      if (this.next !== null) this.post(this.next);
    }, PATIENCE);
    this.send("move", { text, number: this.sent });
  }

  rest() {
    clearTimeout(this.still);
    this.still = null;
    this.moved = false;
    if (this.root.isConnected) this.send("rest", this.sent);
  }

  // Of two messages that Python has not read yet it reads the later alone: what may be unread is told again.
  leave() {
    document.body.removeAttribute("data-followed");
    const unread = this.rests && this.moved && this.seen < this.sent;
    const last = this.typing ? this.box.value : (this.next ?? this.later);
    clearTimeout(this.pause);
    this.later = null;
    this.typing = false;
    if (last !== null) this.post(last);
    else if (unread) this.send("move", { text: this.telling, number: this.sent }); // heard twice, it counts once
    if (this.rests && this.moved) this.rest();
  }

  forget() {
    if (this.later !== null) this.confirm(this.value);
    clearTimeout(this.still);
    clearTimeout(this.pause);
    this.still = this.next = this.later = null;
    this.moved = false;
  }

  settle() {
    if (this.posted) this.took = Math.max(performance.now() - this.posted, FADES * this.took);
    this.posted = 0;
    clearTimeout(this.patience);
    this.waiting = false;
  }
}
