// Draws the figures of the notebooks in the colours of the page, and again when the colours change.
const HEIGHT = 380; // pixels of a figure that names no height

function colour(element, variable) {
  const probe = document.createElement("span");
  probe.style.color = `var(${variable})`;
  element.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function draw(element) {
  const { data, layout } = structuredClone(window.dpbayesFigures[element.id]);
  const text = colour(element, "--md-default-fg-color"), line = colour(element, "--md-default-fg-color--lightest");
  const font = { ...layout.font, color: text, family: getComputedStyle(element).fontFamily };
  const axes = Object.keys(layout).filter((key) => /^[xy]axis/.test(key));
  for (const key of axes) layout[key] = { gridcolor: line, zerolinecolor: line, linecolor: line, ...layout[key] };
  const plain = { template: {}, paper_bgcolor: "transparent", plot_bgcolor: "transparent", height: layout.height ?? HEIGHT };
  window.Plotly.react(element, data, { ...layout, ...plain, font, autosize: true }, { displayModeBar: false, responsive: true });
}

const drawAll = () => document.querySelectorAll(".figure").forEach(draw);
drawAll();
new MutationObserver(drawAll).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
