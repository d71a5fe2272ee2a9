// Moves the lines of a figure that Plotly has drawn to where another figure has them. Plotly would lay out and draw all
// anew, in some ten times the time. Its own answer follows once the hand rests.
const MARK = /^M[^,]+,([^L]+)L[^,]+,(.+)$/; // a line across the picture: what follows each comma is a height

// Return whether the two figures differ in the places of their lines alone, and all of them were moved. `drawn` is the
// text `frameOf` the figure that Plotly has drawn, from before it drew: Plotly writes into what it is given.
function moved(plot, drawn, figure) {
  if (drawn !== frameOf(figure)) return false;
  const { _fullData: traces, _fullLayout: layout } = plot;
  const isFree = Object.keys(layout).some((name) => /^[xy]axis\d*$/.test(name) && layout[name].autorange);
  if (isFree && !figure.data.every((trace, k) => ["x", "y"].every((axis) => isSame(traces[k][axis], trace[axis])))) return false;
  const changes = [...figure.data.map((trace, k) => linesOf(plot, traces[k], trace)), marksOf(plot, figure.layout.shapes ?? [])];
  if (changes.includes(null)) return false;
  for (const [node, name, value] of changes.flat()) {
    if (name === "text") node.textContent = value;
    else node.setAttribute(name, value);
  }
  return true;
}

// All that is seen of a figure but the places of its lines, as text.
function frameOf(figure) {
  return JSON.stringify(figure, function (key, value) {
    if (["x", "y", "text", "customdata", "hovertemplate"].includes(key)) return "type" in this ? undefined : value;
    if (key === "name" && this.showlegend === false) return undefined;
    if (key !== "shapes") return value;
    return value.map(({ x0, x1, ...shape }) => (x0 === x1 ? shape : { x0, x1, ...shape }));
  });
}

// Return whether two figures are the same to seven digits, however their numbers are packed.
function isSameFigure(figure, other) {
  const text = (one) =>
    JSON.stringify(one, (key, value) => {
      if (typeof value === "number") return Math.fround(value);
      if (value?.bdata) return Array.from(unpacked(value));
      return ArrayBuffer.isView(value) ? Array.from(value) : value;
    });
  return text(figure) === text(other);
}

function unpacked({ dtype, bdata }) {
  const { buffer } = Uint8Array.from(atob(bdata), (letter) => letter.charCodeAt(0));
  return dtype === "f4" ? new Float32Array(buffer) : new Float64Array(buffer);
}

function isSame(numbers, others) {
  return numbers?.length === others?.length && others?.every((value, k) => Math.fround(value) === Math.fround(numbers[k]));
}

// The changes of the nodes of one trace: node, attribute, value. None of a trace that is hidden; null if it cannot move.
function linesOf(plot, { type, uid, fill, visible, xaxis, yaxis }, { x, y, text }) {
  if (visible !== true) return [];
  const group = plot.querySelector(`.scatterlayer .trace${uid}`);
  if (type !== "scatter" || !group || x?.length === undefined || x.length !== y?.length) return null;
  const [across, up] = [xaxis, yaxis].map((letter) => plot._fullLayout[letter.replace(/^[xy]/, "$&axis")]);
  const places = Array.from(x, (value, k) => [across.d2p(value), up.d2p(y[k])]);
  if (!places.flat().every(Number.isFinite)) return null;
  const line = `M${places.map((place) => place.map((pixel) => pixel.toFixed(2)).join()).join("L")}`;
  const ground = up.type === "log" ? up._length : up.d2p(0);
  const closed = { toself: `${line}Z`, tozeroy: `${line}L${places.at(-1)[0]},${ground}L${places[0][0]},${ground}Z` };
  const [lines, fills, points, words] = [".js-line", ".js-fill", ".point", ".textpoint text"].map((name) => [...group.querySelectorAll(name)]);
  if (lines.length > 1 || fills.length > 1 || (fills.length && !closed[fill])) return null;
  if ([points, words].some((nodes) => nodes.length && nodes.length !== places.length)) return null;
  return [
    ...lines.map((node) => [node, "d", line]),
    ...fills.map((node) => [node, "d", closed[fill]]),
    ...points.map((node, k) => [node, "transform", `translate(${places[k].join()})`]),
    ...words.flatMap((node, k) => [[node, "x", places[k][0]], [node, "y", places[k][1]], [node, "text", text[k]]]),
  ];
}

// The changes of the lines that mark a place on an axis; null if one cannot move.
function marksOf(plot, shapes) {
  const changes = shapes.map(({ type, xref, x0, x1 }, k) => {
    const [node, axis] = [plot.querySelector(`.shapelayer path[data-index="${k}"]`), plot._fullLayout[xref?.replace(/^x/, "$&axis")]];
    const heights = node?.getAttribute("d").match(MARK);
    if (type !== "line" || x0 !== x1 || !axis || !heights) return null;
    const place = Math.floor(axis._offset + axis.d2p(x0)) + 0.5; // as sharp as Plotly's
    return [node, "d", `M${place},${heights[1]}L${place},${heights[2]}`];
  });
  return changes.includes(null) ? null : changes;
}
