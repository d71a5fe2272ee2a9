// The names of the curves of a narrow chart, above it, one after the other as words are: Plotly's own columns, each as
// wide as the longest name, would take half of the picture. A finger on a name hides its curve, as in Plotly's legend.
const DASHES = { dot: "1 2", dash: "4 3", dashdot: "5 2 1 2", longdash: "7 3" };
const SYMBOLS = {
  circle: "M8 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
  square: "M8.5 2.5h7v7h-7z",
  diamond: "M12 1l5 5l-5 5l-5 -5z",
  "triangle-up": "M12 1.5l4.5 8h-9z",
  cross: "M10.5 1.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
  x: "M9.9 1.8l2.1 2.1l2.1 -2.1l2.1 2.1l-2.1 2.1l2.1 2.1l-2.1 2.1l-2.1 -2.1l-2.1 2.1l-2.1 -2.1l2.1 -2.1l-2.1 -2.1z",
  star: "M12 0.5l1.4 3.9l4.1 0.1l-3.2 2.6l1.1 4l-3.4 -2.3l-3.4 2.3l1.1 -4l-3.2 -2.6l4.1 -0.1z",
  "line-ns": "M12 1v10",
};
const first = (value) => (Array.isArray(value) ? value[0] : value);
const named = (data) => data.filter((trace) => trace.name && trace.showlegend !== false);

class Keys {
  constructor(root, toggled) {
    this.list = Object.assign(document.createElement("div"), { className: "dpbayes-keys", hidden: true });
    this.list.setAttribute("aria-hidden", "true"); // the picture's text says what it shows
    this.list.onclick = ({ target }) => {
      const key = target.closest("span");
      if (!key) return;
      this.hide(key.dataset.name, !this.hidden.has(key.dataset.name));
      toggled();
    };
    this.hidden = new Set();
    root.prepend(this.list);
  }

  hide(name, hides) {
    if (hides) this.hidden.add(name);
    else this.hidden.delete(name);
  }

  // What can be drawn here small: lines, symbols and bars.
  static can(data) {
    return named(data).map(asSymbol).every(
      ({ type, mode, marker }) =>
        type === "scatter" && mode && (!mode.includes("markers") || !marker?.symbol || shape(marker.symbol) in SYMBOLS),
    );
  }

  // Show what the vertical axis is and the names of a figure's curves; returns its curves without those that are hidden.
  show(data, size, axis) {
    this.list.hidden = false;
    this.list.style.fontSize = `${size}px`;
    const above = document.createElement("strong");
    above.append(asWords(axis ? `↑ ${axis}` : ""));
    this.list.replaceChildren(...(axis ? [above] : []), ...named(data).map((trace) => this.key(trace)));
    return data.map((trace) => (this.hidden.has(trace.name) ? { ...trace, visible: "legendonly" } : trace));
  }

  none() {
    this.list.hidden = true;
  }

  get height() {
    return this.list.offsetHeight;
  }

  key(trace) {
    const key = document.createElement("span");
    key.dataset.name = trace.name;
    key.className = this.hidden.has(trace.name) ? "hidden" : "";
    const drawn = asSymbol(trace);
    key.innerHTML = `<svg viewBox="0 0 24 12" aria-hidden="true">${lineOf(drawn)}${symbolOf(drawn)}</svg>`;
    key.append(asWords(trace.name));
    return key;
  }
}

// A bar of one colour is a square of it.
const asSymbol = (trace) =>
  trace.type === "bar" && typeof trace.marker?.color === "string"
    ? { type: "scatter", mode: "markers", marker: { color: trace.marker.color, symbol: "square" } }
    : trace;

const shape = (symbol) => first(symbol).replace("-open", "");

function lineOf({ mode, line, fill, fillcolor }) {
  if (!mode.includes("lines")) return "";
  const ground = fill && fill !== "none" && fillcolor ? `<rect width="24" height="12" fill="${fillcolor}"/>` : "";
  const dash = DASHES[line?.dash] ? ` stroke-dasharray="${DASHES[line.dash]}"` : "";
  const width = Math.min(line?.width ?? 2, 3);
  return `${ground}<path d="M0 6H24" stroke="${line?.color}" stroke-width="${width}"${dash}/>`;
}

function symbolOf({ mode, marker, line }) {
  if (!mode.includes("markers")) return "";
  const [symbol, colour] = [first(marker?.symbol) ?? "circle", first(marker?.color) ?? line?.color];
  const open = symbol.endsWith("-open") || symbol.startsWith("line");
  return `<path d="${SYMBOLS[shape(symbol)]}" fill="${open ? "none" : colour}" stroke="${marker?.line?.color ?? colour}" stroke-width="1.5"/>`;
}

// A name is text that stands in Plotly's markup.
function asWords(name) {
  const read = new DOMParser().parseFromString(name.replaceAll("<br>", " "), "text/html");
  return document.createTextNode(read.body.textContent);
}
