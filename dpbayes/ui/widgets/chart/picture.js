// The button in a chart's corner that opens the pictures one can take home; keys and fingers reach it as a mouse does.
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

class Pictures {
  constructor(root, save) {
    this.button = root.querySelector(".dpbayes-picture");
    this.list = root.querySelector(".dpbayes-pictures");
    this.choices = [...this.list.querySelectorAll("button")];
    this.button.onclick = () => (this.list.hidden ? this.open() : this.close());
    this.list.onkeydown = (e) => this.walk(e);
    for (const choice of this.choices) {
      choice.onclick = () => {
        this.dismiss();
        save(choice.dataset);
      };
    }
    // Whoever goes elsewhere, by key, by mouse or by finger, wants none.
    const left = (e) => !this.button.contains(e.relatedTarget) && !this.list.contains(e.relatedTarget) && this.close();
    for (const part of [this.button, this.list]) {
      part.addEventListener("focusout", left);
      part.onmousedown = (e) => e.preventDefault(); // some browsers take the keyboard away from what is pressed
    }
  }

  // A page has several charts: who hears the names is to know which of them each belongs to.
  name(chart) {
    this.button.hidden = false;
    this.button.setAttribute("aria-label", `Save the picture: ${chart}`);
    this.list.setAttribute("aria-label", `Pictures: ${chart}`);
  }

  open() {
    this.list.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.choices[0].focus();
  }

  close() {
    this.list.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  dismiss() {
    this.close();
    this.button.focus();
  }

  walk(e) {
    const step = STEPS[e.key];
    if (e.key === "Escape") this.dismiss();
    else if (step) this.choices.at((this.choices.indexOf(e.target) + step) % this.choices.length).focus();
    else return;
    e.preventDefault();
    e.stopPropagation(); // where a story is presented, Escape would end it
  }
}
