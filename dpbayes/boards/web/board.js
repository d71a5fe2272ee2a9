// Draws a board: slider, headline, sentences and panels, all of one stop at a time. It tells its host where the hand
// rests, and that it wants the stops that it does not have. It touches no element outside its own root.
const [LEAST, SMALLEST, ROOMY, TALLEST, NARROW, PHONE, LOW] = [130, 120, 260, 620, 300, 520, 560]; // pixels
const GAP = 16; // between panels, and below the last one
const EDGE_BELOW = 8; // below a picture of a low screen
const SOON = 150; // milliseconds after the first drawing

// A document names its own element, which is the host of a board within a shadow tree.
const isFull = (root) => root.matches(":fullscreen");

class Board {
  constructor(root, { plotly, rests, wants }) {
    Object.assign(this, { root, rests, wants, ready: null, place: 0, turn: 0, panels: new Map(), due: null });
    root.classList.add("dpbayes-board");
    root.innerHTML = `
      <div class="slider" hidden></div>
      <div class="said" aria-live="polite"><h2></h2><div class="notes"></div></div>
      <div class="tabs" role="tablist" aria-label="Pictures" hidden></div><div class="panels"></div>
      <div class="tools"><button data-save="png">Save all as PNG</button><button data-save="svg">SVG</button>
        <button data-whole>Full screen</button></div>`;
    const find = (selector) => root.querySelector(selector);
    [this.headline, this.notes, this.grid, this.tabs] = ["h2", ".notes", ".panels", ".tabs"].map(find);
    this.slider = new Slider(find(".slider"), {
      moves: (place) => this.move(place),
      rests: (text) => this.rests(text),
    });
    find("[data-whole]").onclick = () => (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen());
    for (const button of root.querySelectorAll(".tools [data-save]")) {
      button.onclick = () => this.save([...this.panels.values()], button.dataset.save);
    }
    root.addEventListener("keydown", ({ key }) => key === "Escape" && document.fullscreenElement && document.exitFullscreen());
    new ResizeObserver(() => this.fit()).observe(root);
    const resized = () => (root.isConnected ? this.fit() : removeEventListener("resize", resized));
    addEventListener("resize", resized);
    // The theme changes by its colours alone, which a transition of any length tells.
    root.addEventListener("transitionend", (event) => event.target === root && this.recolour());
    plotly().then(
      (library) => {
        this.renderer = library;
        if (this.view) this.drawn();
      },
      () => (this.headline.textContent = "The pictures cannot be drawn: the browser could not load Plotly’s script."),
    );
  }

  // A host may begin at another value than that of the block.
  receive(bytes, start) {
    const { whole, shown, parts, ...view } = read(bytes);
    this.view = { ...whole(view), shown, whole };
    if (this.view.slider?.stops.includes(start)) this.view.value = start;
    const { slider, value } = this.view;
    this.root.querySelector(".slider").hidden = !slider;
    this.root.dataset.name = this.view.name;
    if (slider) this.slider.receive(slider, value);
    this.place = slider ? slider.stops.indexOf(this.slider.text) : 0;
    this.arrange();
    if (this.renderer) this.drawn();
  }

  // Draw at once; the host sends the other stops once this is on the screen.
  drawn() {
    const { slider, shown, value } = this.view;
    const [first] = shown[slider?.stops[Math.round(this.place)] ?? value] ?? [];
    if (first) this.say(this.view.whole(first)); // pictures have the room that sentences leave
    this.fit();
    const isFirst = [...this.panels.values()].every((panel) => !panel.chart);
    this.show(isFirst ? 1 : Infinity); // the first picture is painted before the others are drawn
    if (isFirst) requestAnimationFrame(() => requestAnimationFrame(() => this.show()));
    clearTimeout(this.wanting);
    if (slider?.stops.some((stop) => !shown[stop])) this.wanting = setTimeout(() => this.wants?.(), SOON);
  }

  // Panels that stay keep their charts.
  arrange() {
    const { panels } = this.view;
    for (const [key, panel] of this.panels) {
      if (!panels.some((one) => one.key === key)) [panel.root.remove(), this.panels.delete(key)];
    }
    for (const panel of panels) {
      if (!this.panels.has(panel.key)) this.panels.set(panel.key, new Panel(this, panel));
      this.panels.get(panel.key).describe(panel);
    }
    this.grid.replaceChildren(...panels.map(({ key }) => this.panels.get(key).root));
    this.grid.dataset.panels = panels.length;
    this.grid.style.setProperty("--beside", Math.max(1, panels.length - 1));
    this.grid.toggleAttribute("data-large", panels.some((panel) => panel.large) && panels.length > 1);
    this.tabs.replaceChildren(...panels.map((panel) => this.tab(panel)));
    this.choose(this.chosen && this.panels.has(this.chosen) ? this.chosen : panels[0]?.key);
  }

  tab({ key, title }) {
    const tab = Object.assign(document.createElement("button"), { textContent: title, onclick: () => this.choose(key) });
    tab.setAttribute("role", "tab");
    tab.dataset.key = key;
    return tab;
  }

  // On a low screen, one panel is seen at a time.
  choose(key) {
    this.chosen = key;
    for (const tab of this.tabs.children) tab.setAttribute("aria-selected", tab.dataset.key === key);
    for (const [name, panel] of this.panels) panel.root.toggleAttribute("data-chosen", name === key);
    this.fit();
  }

  move(place) {
    this.place = place;
    this.due ??= requestAnimationFrame(() => {
      this.due = null;
      this.show();
    });
  }

  // Show all that belongs to the place of the hand; between two stops, lines are between theirs.
  show(most = Infinity) {
    const { slider, shown, value, whole } = this.view;
    const stops = slider?.stops ?? [value];
    const near = Math.round(this.place);
    const [stop, next] = [stops[near], stops[near + Math.sign(this.place - near)]];
    const frames = shown[stop];
    this.root.toggleAttribute("data-coming", !frames);
    // What is shown is of another stop: it is faint, and its numbers are hidden.
    if (!frames) return (this.headline.textContent &&= "Computing …");
    const frame = frames[this.turn % frames.length];
    const other = next !== stop && shown[next]?.[this.turn % shown[next].length];
    this.say(whole({ headline: frame.headline, notes: frame.notes }));
    if (!this.renderer) return;
    for (const [key, panel] of [...this.panels].slice(0, most)) {
      const [figure, further] = [frame, other].map((one) => one?.figures?.[key] && whole(one.figures[key]));
      panel.show(figure && between(figure, further, Math.abs(this.place - near)), whole(frame.captions)[key] ?? "");
    }
    this.root.dataset.stop = stop;
    for (const tab of this.tabs.children) tab.hidden = this.panels.get(tab.dataset.key).isEmpty;
    if (this.panels.get(this.chosen)?.isEmpty) this.choose(this.tabs.querySelector(":not([hidden])")?.dataset.key);
  }

  say({ headline, notes }) {
    if (this.headline.textContent !== headline) this.headline.textContent = headline;
    this.headline.hidden = !headline;
    const text = notes.join("\n");
    if (this.said === text) return;
    this.said = text;
    this.notes.replaceChildren(...notes.map((note) => Object.assign(document.createElement("p"), { textContent: note })));
  }

  // Show the next of several frames of this stop.
  another() {
    this.turn += 1;
    this.show();
  }

  // A row of panels is as high as the screen leaves room for.
  fit() {
    if (!this.view || !this.root.clientWidth) return;
    const isPhone = this.root.clientWidth < PHONE;
    const top = this.grid.getBoundingClientRect().top - this.root.getBoundingClientRect().top;
    const isLow = !isPhone && innerHeight < LOW;
    this.root.toggleAttribute("data-low", isLow);
    this.root.toggleAttribute("data-phone", isPhone);
    this.tabs.hidden = !isLow || this.panels.size < 2;
    const above = isFull(this.root) ? 0 : Math.max(0, this.above());
    this.root.querySelector("[data-whole]").textContent = isFull(this.root) ? "Close" : "Full screen";
    const start = above > innerHeight / 2 ? 0 : above; // somebody scrolls to a board further down
    const below = isLow ? EDGE_BELOW : GAP + this.root.querySelector(":scope > .tools").offsetHeight;
    const room = Math.min(innerHeight - start - top - below, 2 * TALLEST);
    for (const panel of this.panels.values()) panel.fit(room, { isLow, isPhone });
  }

  // How far down the page the board begins, however far somebody has scrolled.
  above() {
    let scrolled = 0;
    for (let node = this.root.parentElement; node; node = node.parentElement) scrolled += node.scrollTop;
    return this.root.getBoundingClientRect().top + scrolled;
  }

  recolour() {
    for (const panel of this.panels.values()) panel.chart?.again();
  }

  save(all, format) {
    const panels = all.filter(({ chart, root }) => chart && !root.hasAttribute("data-empty"));
    if (!panels.length) return;
    const { name, caption, slider } = this.view;
    const stop = slider ? `-${this.root.dataset.stop}` : "";
    const one = panels.length === 1 && this.panels.size > 1 ? `-${panels[0].key}` : "";
    const parts = panels.map((panel) => ({ chart: panel.chart, title: panel.title, caption: panel.caption.textContent }));
    const own = slider ? `${slider.label} = ${this.root.dataset.stop}. ` : "";
    return saved(parts, { headline: this.headline.textContent, caption: own + caption, name: `${name}${stop}${one}`, format });
  }
}

class Panel {
  constructor(board, { key }) {
    Object.assign(this, { board, key });
    this.root = document.createElement("figure");
    this.root.className = "panel";
    this.root.innerHTML = `<div class="title"><h3></h3><button class="why">?</button><p class="meaning" popover></p><span class="side"><span class="menu"><button data-large>Enlarge</button
      ><button data-save="png">PNG</button><button data-save="svg">SVG</button></span><button class="action" hidden></button></span></div>
      <div class="chart" role="img"></div><figcaption></figcaption>`;
    const find = (selector) => this.root.querySelector(selector);
    [this.name, this.action, this.caption, this.place] = ["h3", ".action", "figcaption", ".chart"].map(find);
    [this.why, this.meaning] = [".why", ".meaning"].map(find);
    this.why.onclick = () => this.explain();
    this.action.onclick = () => board.another();
    find("[data-large]").onclick = () => (document.fullscreenElement ? document.exitFullscreen() : this.root.requestFullscreen());
    for (const button of this.root.querySelectorAll("[data-save]")) button.onclick = () => board.save([this], button.dataset.save);
    this.root.addEventListener("fullscreenchange", () => board.fit());
  }

  describe({ title, alt, large, action, help }) {
    Object.assign(this, { title, isLarge: large });
    this.name.textContent = title;
    this.why.hidden = !help;
    this.why.ariaLabel = `Explain: ${title}`;
    this.why.title = this.meaning.textContent = help;
    this.place.setAttribute("aria-label", alt);
    this.root.toggleAttribute("data-large", large);
    this.action.textContent = action;
    this.action.hidden = !action;
    for (const button of this.root.querySelectorAll(".menu button")) {
      button.setAttribute("aria-label", `${button.textContent}: ${title}`);
    }
  }

  // The meaning of the picture's terms, below the button that asks for it.
  explain() {
    const { left, bottom } = this.why.getBoundingClientRect();
    this.meaning.togglePopover();
    this.meaning.style.left = `${Math.max(8, Math.min(left, innerWidth - this.meaning.offsetWidth - 8))}px`;
    this.meaning.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - this.meaning.offsetHeight - 8))}px`;
  }

  get isEmpty() {
    return this.root.hasAttribute("data-empty");
  }

  show(figure, caption) {
    if (this.isEmpty !== !figure) [this.root.toggleAttribute("data-empty", !figure), this.board.fit()];
    if (this.caption.textContent !== caption) this.caption.textContent = caption;
    if (!figure) return;
    this.chart ??= new Chart(this.place, this.board.renderer);
    const { yaxis, meta, height } = figure.layout;
    const lines = Math.max(1, ...(yaxis?.ticktext ?? []).map((name) => `${name}`.split("<br>").length));
    const [named, most] = [(yaxis?.type === "log" ? 0 : (yaxis?.tickvals?.length ?? 0)) * lines, meta?.rows ? height : TALLEST];
    this.least = meta?.least ?? 0; // rows with texts of their own, or beside those of a table
    if (this.named !== named || this.most !== most) [Object.assign(this, { named, most }), this.board.fit()];
    this.measure();
    this.chart.show(figure);
  }

  fit(room, { isLow, isPhone }) {
    const count = [...this.board.panels.values()].filter((panel) => !panel.isEmpty).length;
    const hasLarge = this.board.grid.hasAttribute("data-large");
    const rows = isLow ? 1 : hasLarge ? (this.isLarge ? 1 : count - 1) : Math.ceil(count / 2);
    const beside = (this.board.tabs.hidden ? this.name.parentElement.offsetHeight : 0) + this.caption.offsetHeight;
    const full = isFull(this.root);
    const word = full ? "Close" : "Enlarge";
    Object.assign(this.root.querySelector("[data-large]"), { textContent: word, ariaLabel: `${word}: ${this.title}` });
    const share = full ? innerHeight - 2 * GAP : (room - GAP * (rows - 1)) / rows;
    const least = Math.max(this.least ?? 0, isLow ? LEAST : this.isLarge || this.root.clientWidth < NARROW ? ROOMY : SMALLEST, 18 * (this.named ?? 0) + 70); // names of rows are read one below the other
    const wanted = isPhone && !full ? Math.max(260, least) : Math.max(least, share - beside);
    const height = Math.min(wanted, full ? innerHeight : (this.most ?? TALLEST));
    this.place.style.height = `${Math.round(height)}px`;
    this.measure();
  }

  measure() {
    if (this.place.clientWidth) this.chart?.fit(this.place.clientWidth, this.place.clientHeight);
  }
}
