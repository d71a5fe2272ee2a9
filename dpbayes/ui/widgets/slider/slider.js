// A slider whose value is sent while it moves. One value is on its way at a time: what the hand does meanwhile waits,
// and only the last of it is sent when Python has answered. Python's value is the truth for a hand at rest.
const sliders = new WeakMap();
const PATIENCE = 2000; // after so many milliseconds without an answer the next value goes out all the same

export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".slider");
  if (!sliders.has(root)) sliders.set(root, new Slider(root, data.seen));
  sliders.get(root).receive(data, (move) => setStateValue("move", move));
}

class Slider {
  constructor(root, seen) {
    this.root = root;
    this.input = root.querySelector("input");
    this.bubble = root.querySelector("output");
    this.rail = root.querySelector(".rail");
    this.sent = seen; // the number of the last value that was sent
    this.waiting = false;
    this.next = null;
    this.input.id = `slider-${Math.random().toString(36).slice(2)}`;
    root.querySelector("label").htmlFor = this.input.id;
    this.input.addEventListener("input", () => this.move(Number(this.input.value)));
    this.input.addEventListener("keydown", (e) => e.stopPropagation()); // Streamlit's own "r" and "c" must not hear it
  }

  // From Python

  receive(data, send) {
    this.send = send;
    const fresh = JSON.stringify([data.label, data.texts, data.ticks, data.disabled]);
    if (fresh !== this.drawn) this.draw(data);
    this.drawn = fresh;
    this.stops = data.stops;
    if (data.seen < this.sent) return; // the answer to an earlier value: the hand is further by now
    this.settle();
    if (this.next !== null) this.post(this.next);
    else this.show(data.stops.indexOf(data.value));
  }

  draw(data) {
    this.texts = data.texts;
    this.input.max = data.texts.length - 1;
    this.input.disabled = data.disabled;
    this.root.classList.toggle("disabled", data.disabled);
    this.root.querySelector("label").textContent = data.label;
    const [low, high] = this.root.querySelectorAll(".ends span");
    [low.textContent, high.textContent] = [data.texts[0], data.texts.at(-1)];
    const ticks = data.ticks.map((place) => {
      const tick = document.createElement("i");
      tick.style.left = `${(100 * place) / Math.max(1, data.texts.length - 1)}%`;
      return tick;
    });
    this.root.querySelector(".ticks").replaceChildren(...ticks);
  }

  show(place) {
    this.input.value = place;
    this.bubble.textContent = this.texts[place];
    this.input.setAttribute("aria-valuetext", this.texts[place]);
    this.rail.style.setProperty("--part", place / Math.max(1, this.texts.length - 1));
  }

  // To Python

  move(place) {
    this.show(place);
    if (this.waiting) this.next = place;
    else this.post(place);
  }

  post(place) {
    this.next = null;
    this.waiting = true;
    this.sent += 1;
    this.patience = setTimeout(() => {
      this.waiting = false;
      if (this.next !== null) this.post(this.next);
    }, PATIENCE);
    this.send({ value: this.stops[place], number: this.sent });
  }

  settle() {
    clearTimeout(this.patience);
    this.waiting = false;
  }
}
