// Draws a figure and keeps it: when the next one comes, Plotly changes in place what differs.
const charts = new WeakMap();
let library;
const LEAST_HEIGHT = 200; // pixels; below this a curve cannot be read
const LETTERS = 12, SMALL_LETTERS = 11, LARGE_LETTERS = 20; // pixels; those of a low chart, and for a room
// In a chart lower than this, and for a room, names would take the place of curves. Where it is wide enough, more than a
// line of entries stands beside the curves.
const LOW = 300, LOW_FOR_A_ROOM = 390, WIDE = 480, LINE = 3;
const TITLE = 34, SENTENCE = 28; // pixels above and below a chart of a board
const SHORT = 600, BESIDE_SHORT = 272; // pixels of a low screen, which has no sentences there, and of all else on it
const SOON = 500; // milliseconds within which an answer that is shown already is drawn
const NARROW = { t: 22, b: 40 }; // around the curves of a chart whose names stand above it
// A board shown to a room alone is presented too, without a story.
const stories = document.getElementsByClassName("st-key-present"); // live: it is asked for with every stroke
const presented = () => stories.length > 0 || (document.fullscreenElement?.classList.contains("st-key-whole") ?? false);

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".dpbayes-chart");
  if (!charts.has(root)) charts.set(root, new Chart(root));
  charts.get(root).receive(JSON.parse(new TextDecoder().decode(data)));
}

function plotly(address) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error(address));
    document.head.append(script);
  });
  return library;
}

const expand = {
  width: 448,
  height: 448,
  path: "M32 0H160V64H64V160H0V32Q0 0 32 0ZM288 0H416Q448 0 448 32V160H384V64H288ZM0 288H64V384H160V448H32Q0 448 0 416ZM384 288H448V416Q448 448 416 448H288V384H384Z",
};

class Chart {
  constructor(root) {
    this.root = root;
    this.plot = root.firstElementChild;
    this.seen = true;
    this.touched = matchMedia("(hover: none)").matches;
    new IntersectionObserver(([entry]) => {
      this.seen = entry.isIntersecting;
      if (this.seen) this.draw();
    }).observe(root);
    this.sizes = new ResizeObserver(() => this.fit());
    const resized = () => (root.isConnected ? this.fit() : removeEventListener("resize", resized));
    addEventListener("resize", resized);
    // The theme changes by its colours alone, which a transition of any length tells.
    root.addEventListener("transitionend", (e) => e.target === root && this.again());
    this.pictures = new Pictures(root, (as) => this.save(as));
    this.keys = new Keys(root, () => this.again());
    root.addEventListener("dpbayes-save", (e) => this.save(e.detail)); // from the list of what can be taken home
    root.addEventListener("dpbayes-part", (e) => e.detail.parts.push(this.part(e.detail))); // of a board
    root.addEventListener("dpbayes-frame", (e) => this.follow(e.detail.figure));
    for (const kind of ["pointerenter", "focusin"]) root.addEventListener(kind, () => this.isAhead || this.draw());
    const rests = () => (root.isConnected ? this.confirm() : document.removeEventListener("dpbayes-rests", rests));
    document.addEventListener("dpbayes-rests", rests);
  }

  receive({ library, alt, name, file, caption, frames, figure }) {
    this.root.setAttribute("aria-label", alt);
    Object.assign(this.root.dataset, { name, frames });
    Object.assign(this, { alt, name, file, caption });
    this.answer = figure;
    if (this.isAhead && "hand" in document.body.dataset) return; // it is elsewhere by now
    if (this.isAhead) return this.confirm();
    this.figure = figure;
    this.root.style.height = `${this.height}px`; // so that nothing moves when it is drawn
    this.root.dataset.sized = ""; // rules that ask for it by its style would be tried anew with every stroke that is drawn
    this.watch();
    plotly(library).then(
      (found) => {
        this.plotly = found;
        // What nobody sees is drawn when the browser has nothing else to do.
        if (this.seen) this.draw();
        else requestIdleCallback(() => this.draw());
      },
      () => {
        this.plot.textContent = "The chart cannot be drawn: the browser could not load Plotly’s script.";
        this.root.ariaBusy = "false";
      },
    );
  }

  // The hand is at a place of which the figure came earlier.
  follow(figure) {
    Object.assign(this, { isAhead: true, figure, answer: null }); // what came before is of another place
    if (!this.seen || !this.drawn) return this.seen && this.draw();
    if (!moved(this.plot, this.frame, figure)) this.stroke();
  }

  // The server has answered the hand, of this chart now or later: with what is shown already unless it knows more by now.
  // Plotly draws what is shown already once somebody points at it.
  confirm() {
    if (!this.isAhead || !this.answer) return;
    this.isAhead = false;
    const isShown = isSameFigure(this.answer, this.figure);
    this.figure = this.answer;
    if (!isShown) requestIdleCallback(() => this.isAhead || this.draw(), { timeout: SOON });
  }

  draw() {
    if (!this.plotly || !this.figure || this.figure === this.drawn) return;
    this.letters = this.fitting();
    this.low = this.isLow;
    this.narrow = this.isNarrow;
    const isOther = this.laidOut !== this.letters; // Plotly lays margins out by the letters before, the first time
    this.laidOut = this.letters;
    this.stroke({ width: this.root.clientWidth || 700 }).then(async () => {
      this.root.ariaBusy = "false";
      if (isOther) await this.plotly.relayout(this.plot, { "legend.font.size": this.letters });
      this.nameTools();
      this.watch();
      this.fit();
    });
  }

  // Draw the figure in a place of this size, by default the one it has: to measure it would have the browser lay out all.
  stroke(size = this.size) {
    this.drawn = this.figure;
    this.frame = frameOf(this.figure);
    const { layout } = this.figure;
    const data = this.narrow ? this.keys.show(this.figure.data, SMALL_LETTERS) : this.figure.data;
    if (!this.narrow) this.keys.none();
    this.size = size.height ? size : { ...size, height: this.inner };
    const more = { template: { layout: this.theme() }, ...this.size };
    if (this.narrow) Object.assign(more, { showlegend: false, margin: { ...layout.margin, ...NARROW } });
    else if (this.low && !presented()) {
      more.margin = { ...layout.margin, b: 40 };
      if (this.entries > LINE && more.width >= WIDE) {
        more.legend = { orientation: "v", x: 1.02, xanchor: "left", y: 1, yanchor: "top", maxheight: more.height };
        more.margin.t = 22;
      }
    }
    more.legend = { ...layout.legend, ...more.legend, uirevision: "kept" }; // a line that was hidden stays so
    if (this.touched) more.dragmode = false; // a finger scrolls the page
    return this.plotly.react(this.plot, data, { ...layout, ...more }, (this.config ??= this.configured()));
  }

  // What stands above may come after the figure, or grow: the page as a whole tells.
  watch() {
    const whole = this.root.closest("[data-testid=stMainBlockContainer]") ?? document.body;
    for (const part of [this.root, whole]) this.sizes.observe(part);
  }

  // A page has several charts: who hears their tools' names is to know which of them each belongs to.
  nameTools() {
    const chart = this.name.replace(/[^\p{L}\p{N}]+/gu, " ");
    this.pictures.name(chart);
    for (const tool of this.plot.querySelectorAll(".modebar-btn")) {
      tool.setAttribute("aria-label", `${tool.dataset.title}: ${chart}`);
    }
  }

  get height() {
    if (document.fullscreenElement === this.root) return this.root.clientHeight;
    const room = this.room();
    const most = presented() ? room : this.figure.layout.height;
    return Math.min(most, Math.max(LEAST_HEIGHT, room));
  }

  // Without the names above it.
  get inner() {
    return this.height - this.keys.height;
  }

  get isNarrow() {
    const width = this.root.clientWidth || 700;
    return !presented() && width < WIDE && this.entries > 1 && Keys.can(this.figure.data);
  }

  get isLow() {
    return this.height < (presented() ? LOW_FOR_A_ROOM : Math.min(LOW, this.figure.layout.height));
  }

  get entries() {
    return named(this.figure.data).length;
  }

  // The first chart of a page is seen whole with what moves it, on a small screen too. It gives way to a longer headline
  // and keeps that size: it is not to breathe with the number of its lines.
  room() {
    const main = this.root.closest("[data-testid=stMain]");
    const board = innerWidth > 640 ? this.root.closest(".st-key-board") : null;
    if (board && !(presented() && this.isAlone(board))) return this.share(board);
    if (presented()) return innerHeight - this.root.getBoundingClientRect().top - (main?.scrollTop ?? 0) - 8; // alone
    const picture = this.root.closest(".st-key-picture");
    if (picture?.querySelector(".dpbayes-chart") !== this.root) return Infinity;
    const screen = `${innerWidth} ${innerHeight}`;
    if (this.screen !== screen) [this.screen, this.left] = [screen, Infinity];
    const top = this.root.getBoundingClientRect().top + (main?.scrollTop ?? 0);
    this.left = Math.min(this.left, innerHeight - top - 8);
    return this.left;
  }

  isAlone(board) {
    return [...board.querySelectorAll(".dpbayes-chart")].every((chart) => chart === this.root || !chart.offsetParent);
  }

  // The rows of a board share the screen; a low one shows one row at a time.
  share(board) {
    if (innerHeight <= SHORT && !presented()) return innerHeight - BESIDE_SHORT;
    const scrolled = presented() ? 0 : (this.root.closest("[data-testid=stMain]")?.scrollTop ?? 0);
    const top = board.getBoundingClientRect().top + scrolled + (board.querySelector(".st-key-board-pair")?.offsetHeight ?? 0);
    const rows = [...board.querySelectorAll(".st-key-pair-1, .st-key-pair-2")].filter((row) => row.offsetParent).length;
    return Math.floor((innerHeight - top - 8) / Math.max(1, rows) - TITLE - SENTENCE);
  }

  async save(as) {
    if (!this.plotly) return;
    const { alt, file, caption } = this;
    await saved({ ...this.whole(), alt, file, caption }, as);
    this.root.dispatchEvent(new Event("dpbayes-saved"));
  }

  async part({ width, height }) {
    const { alt, file, caption, name } = this;
    return this.plotly && { ...(await drawing(this.whole(), width, height)), theme: this.whole().theme, alt, file, caption, name };
  }

  // The chart as it is where no screen is too low or narrow.
  whole() {
    this.draw(); // what nobody saw may not be drawn yet
    const { legend, margin, showlegend } = this.figure.layout;
    return { plotly: this.plotly, plot: this.plot, theme: this.theme(LETTERS, false), layout: { legend, margin, showlegend } };
  }

  again() {
    this.drawn = null;
    this.draw();
  }

  fit() {
    const full = this.drawn && this.plot._fullLayout;
    if (!full || !this.root.clientWidth) return;
    const isOther = this.letters !== this.fitting() || this.low !== this.isLow || this.narrow !== this.isNarrow;
    if (isOther) return this.again();
    if (document.fullscreenElement !== this.root) this.root.style.height = `${this.height}px`;
    const size = (this.size = { width: this.root.clientWidth, height: this.inner });
    if (size.width === full.width && size.height === full.height) return;
    if (this.figure !== this.drawn) return this.again(); // its lines were moved, which Plotly does not know
    // A legend of fewer lines than before stands among the curves until all is drawn again.
    this.plotly.relayout(this.plot, size).then(() => this.plotly.redraw(this.plot));
  }

  configured() {
    const full = () => (document.fullscreenElement ? document.exitFullscreen() : this.root.requestFullscreen());
    return {
      displaylogo: false,
      displayModeBar: this.touched ? false : "hover",
      // No chart leaves the machine, and what is saved has its title and its settings inside, not Plotly's picture alone.
      modeBarButtonsToRemove: ["sendChartToCloud", "select2d", "lasso2d", "autoScale2d", "toImage"],
      modeBarButtonsToAdd: [{ name: "fullscreen", title: "Fullscreen", icon: expand, click: full }],
    };
  }

  // How large letters are: in a low chart they give way to the curves.
  fitting() {
    if (presented()) {
      const most = Math.min(LARGE_LETTERS, this.height / 22, (this.root.clientWidth || 700) / 24);
      return Math.round(Math.max(LETTERS, most));
    }
    return this.isLow || this.isNarrow ? SMALL_LETTERS : LETTERS;
  }

  theme(size = this.letters, low = this.low || this.narrow) {
    const style = getComputedStyle(this.root);
    const [text, ground] = [style.color, style.getPropertyValue("--st-background-color")];
    const line = text.replace(/^rgb\((.*)\)$/, "rgba($1, 0.16)");
    const more = size > LETTERS ? 0 : 2; // a title is as long as its axis, at most
    const [below, beside] = low ? [6, 10] : [20, 24]; // from the numbers to the title
    const axis = {
      automargin: true,
      gridcolor: line,
      minor: { gridcolor: line },
      tickcolor: line,
      tickfont: { color: text, size },
      zerolinecolor: line,
    };
    return {
      colorway: style.getPropertyValue("--st-chart-categorical-colors").split(","),
      font: { color: text, family: style.fontFamily, size },
      hoverlabel: { bgcolor: ground, bordercolor: line, font: { color: text } },
      legend: { font: { color: text, size } },
      margin: { pad: 8 },
      paper_bgcolor: ground,
      plot_bgcolor: ground,
      xaxis: { ...axis, showgrid: false, zeroline: false, title: { font: { size: size + more }, standoff: below } },
      yaxis: { ...axis, title: { font: { size: size + more }, standoff: beside } },
    };
  }
}
