// Draws two densities, of which the private one moves with epsilon: by itself at first, unless the person prefers less
// motion, and by the slider from the first touch on.
const LEFT = 16, WIDE = 488, FLOOR = 190, TALL = 182; // units of the picture
const STAYS = 700; // milliseconds between two epsilons
const pictures = new WeakMap();

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".miniature");
  if (!pictures.has(root)) pictures.set(root, new Miniature(root, data));
}

class Miniature {
  constructor(root, data) {
    Object.assign(this, { root, data });
    [this.svg, this.slider, this.output, this.button] = ["svg", "input", "output", "button"].map((s) => root.querySelector(s));
    ["exact", "private"].forEach((name, k) => root.style.setProperty(`--${name}`, data.colours[k]));
    root.querySelector(".name").textContent = data.name;
    root.querySelector("path.exact").setAttribute("d", this.path(data.exact));
    this.last = data.epsilons.length - 1;
    this.slider.max = this.last;
    this.slider.addEventListener("input", () => this.touched(Number(this.slider.value)));
    for (const deed of ["pointerdown", "focus"]) this.slider.addEventListener(deed, () => this.play(false));
    this.button.addEventListener("click", () => this.play(!this.plays));
    this.show(this.last / 2);
    this.play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  touched(place) {
    this.play(false);
    this.show(place);
  }

  play(plays) {
    this.plays = plays;
    this.button.textContent = plays ? "Pause" : "Play";
    this.before = null;
    if (plays) requestAnimationFrame((now) => this.step(now));
  }

  // From the least epsilon to the largest and back.
  step(now) {
    if (!this.plays || !this.root.isConnected) return;
    this.phase = ((this.phase ?? this.place) + (now - (this.before ?? now)) / STAYS) % (2 * this.last);
    this.before = now;
    this.show(this.last - Math.abs(this.last - this.phase));
    requestAnimationFrame((later) => this.step(later));
  }

  // A place between two epsilons has a curve between theirs.
  show(place) {
    this.place = place;
    if (!this.plays) this.phase = place;
    const { private: curves, epsilons, name } = this.data;
    const [low, high] = [curves[Math.floor(place)], curves[Math.ceil(place)]];
    const share = place - Math.floor(place);
    this.root.querySelector(".private").setAttribute("d", this.path(low.map((y, k) => y + share * (high[k] - y))));
    const epsilon = epsilons[Math.round(place)];
    if (this.output.textContent === `ε = ${epsilon}`) return;
    this.output.textContent = `ε = ${epsilon}`;
    const notes = this.data.notes[Math.round(place)];
    this.root.querySelectorAll(".note").forEach((text, k) => (text.textContent = notes[k]));
    this.slider.value = Math.round(place);
    this.slider.setAttribute("aria-valuetext", epsilon);
    this.svg.setAttribute("aria-label", `Exact and private posterior of ${name} at epsilon ${epsilon}. ${notes.filter(Boolean).join(". ")}`);
  }

  path(heights) {
    const step = WIDE / (heights.length - 1);
    const points = heights.map((y, k) => `${(LEFT + k * step).toFixed(1)} ${(FLOOR - (y / this.data.high) * TALL).toFixed(1)}`);
    return `M${points.join("L")}`;
  }
}
