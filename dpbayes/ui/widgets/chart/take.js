// Buttons that save the chart above them: the nearest one that stands before them on the page.
export default function ({ parentElement }) {
  const list = parentElement.querySelector(".dpbayes-take");
  for (const button of list.querySelectorAll("button")) {
    const { format, size } = button.dataset;
    button.onclick = () => above(list)?.dispatchEvent(new CustomEvent("dpbayes-save", { detail: { format, size } }));
  }
  list.hidden = !above(list);
  const called = above(list)?.getAttribute("aria-label") ?? "";
  for (const button of list.querySelectorAll("button")) button.setAttribute("aria-label", `${button.title}: ${called}`);
}

// The chart of the same key, wherever it stands; else the last one above.
function above(list) {
  const start = "st-key-take-";
  const key = [...(list.closest(`[class*=${start}]`)?.classList ?? [])].find((name) => name.startsWith(start));
  const own = key && document.querySelector(`.st-key-${CSS.escape(key.slice(start.length))} .dpbayes-chart`);
  if (own) return own;
  const before = (chart) => chart.compareDocumentPosition(list) & Node.DOCUMENT_POSITION_FOLLOWING;
  return [...document.querySelectorAll(".dpbayes-chart")].filter((chart) => chart.isConnected && before(chart)).at(-1);
}
