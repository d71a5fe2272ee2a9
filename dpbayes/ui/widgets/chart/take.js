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

function above(list) {
  const before = (chart) => chart.compareDocumentPosition(list) & Node.DOCUMENT_POSITION_FOLLOWING;
  return [...document.querySelectorAll(".dpbayes-chart")].filter((chart) => chart.isConnected && before(chart)).at(-1);
}
