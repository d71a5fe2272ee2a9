// Draws the figure of one panel, and moves its lines without Plotly while its axes stay.
const LARGE = 440; // pixels of height from which a chart on the whole screen has large letters
const [LETTERS, LARGE_LETTERS] = [13, 18];
const NUMBERS = 56; // pixels for the numbers of an axis whose title is above the chart
const CONFIG = { displayModeBar: false, staticPlot: false, responsive: false, scrollZoom: false, doubleClick: false };

class Chart {
  constructor(root, plotly) {
    Object.assign(this, { root, plotly });
    this.plot = document.createElement("div");
    root.append(this.plot);
    this.legend = new Keys(root, () => this.again());
  }

  show(figure) {
    this.figure = figure;
    if (this.drawn && moved(this.plot, this.drawn, figure)) return (this.isMoved = true);
    this.again();
  }

  fit(width, height) {
    const size = { width: Math.round(width), height: Math.round(height) };
    if (size.width === this.size?.width && size.height === this.size?.height) return;
    this.size = size;
    this.again();
  }

  again() {
    this.drawn = null;
    if (this.figure && this.size?.height) this.stroke();
  }

  stroke() {
    const { figure } = this;
    const isNamed = Keys.can(figure.data) && named(figure.data).length > 0;
    const isLarge = this.root.closest(":fullscreen") && this.size.height > LARGE;
    this.letters = isLarge ? LARGE_LETTERS : LETTERS;
    const { margin, xaxis, yaxis } = figure.layout;
    const data = isNamed ? this.legend.show(figure.data, this.letters, yaxis?.title?.text) : figure.data;
    if (!isNamed) this.legend.none();
    const height = Math.max(80, this.size.height - this.legend.height);
    const layout = {
      ...figure.layout,
      template: { layout: this.theme(), data: { bar: [{ insidetextfont: { color: getComputedStyle(this.root).color } }] } },
      width: this.size.width,
      height,
      showlegend: !isNamed,
      minreducedheight: 20, // a low chart still has room for its numbers above the title
      dragmode: false, // a finger scrolls the page
      margin: isNamed ? { ...margin, t: 10, b: xaxis?.title ? 3.2 * this.letters : 22, l: Math.min(margin.l, NUMBERS) } : margin,
      yaxis: isNamed ? { ...yaxis, title: undefined } : yaxis,
    };
    this.drawn = frameOf(figure);
    this.isMoved = false;
    this.plotly.react(this.plot, data.map((trace) => ({ ...trace })), layout, CONFIG);
  }

  // The theme of the surrounding page, which a saved picture has too.
  theme(letters = this.letters) {
    const style = getComputedStyle(this.root);
    const [text, ground] = [style.color, style.backgroundColor];
    const faint = text.replace(/^rgb\((.*)\)$/, "rgba($1, 0.16)");
    const axis = {
      automargin: true,
      gridcolor: faint,
      minor: { gridcolor: faint },
      tickcolor: faint,
      tickfont: { color: text, size: letters },
      zerolinecolor: faint,
      fixedrange: true,
    };
    return {
      font: { color: text, family: style.fontFamily, size: letters },
      hoverlabel: { bgcolor: ground, bordercolor: faint, font: { color: text } },
      legend: { font: { color: text, size: letters } },
      margin: { pad: 6 },
      paper_bgcolor: ground,
      plot_bgcolor: ground,
      xaxis: { ...axis, showgrid: false, zeroline: false, title: { font: { size: letters }, standoff: 8 } },
      yaxis: { ...axis, title: { font: { size: letters }, standoff: 14 } },
    };
  }

  // What is drawn, with its legend inside, for a file.
  whole() {
    if (this.isMoved) this.again(); // lines were moved, which Plotly does not know
    const { legend, margin, yaxis } = this.figure.layout;
    return { plotly: this.plotly, plot: this.plot, theme: this.theme(LETTERS), layout: { legend, margin, yaxis, showlegend: true } };
  }
}
