// Saves the pictures of a board as one file, and shows the board alone.
const CELL = { width: 640, height: 340 }; // pixels of a picture in the file
const NAME = { size: 14, step: 18 };
const DOTS = 2;

export default function ({ parentElement }) {
  const list = parentElement.querySelector(".dpbayes-take");
  for (const button of list.querySelectorAll("[data-format]")) button.onclick = () => save(button.dataset.format);
  list.querySelector("[data-present]").onclick = () => document.querySelector(".st-key-whole").requestFullscreen();
}

async function save(format) {
  const cells = [...document.querySelectorAll(".st-key-board [data-testid=stColumn]")];
  const shown = cells.map((cell) => [cell, cell.querySelector(".dpbayes-chart")]).filter(([, chart]) => chart);
  const parts = [];
  for (const [, chart] of shown) chart.dispatchEvent(new CustomEvent("dpbayes-part", { detail: { ...CELL, parts } }));
  const drawn = await Promise.all(parts);
  if (!drawn.length || drawn.includes(undefined)) return; // Plotly's script is still on its way
  const { theme, caption, file, name } = drawn[0];
  const columns = Math.min(2, drawn.length), width = columns * CELL.width;
  const sentences = shown.map(([cell]) => wrapped(last(cell, "[data-testid=stCaptionContainer]"), CELL.width, LINES.foot.size));
  const below = LINES.foot.step * Math.max(...sentences.map((texts) => texts.length)) + EDGE;
  const tall = EDGE + CELL.height + below;
  const content = drawn.map(({ svg }, k) => {
    const title = shown[k][0].querySelector("strong")?.textContent ?? "";
    return (
      `<g transform="translate(${(k % columns) * CELL.width} ${Math.floor(k / columns) * tall})">` +
      `<g font-family="${FONT}" fill="${theme.font.color}">${lines([title], EDGE, NAME.size, NAME, 'font-weight="bold"')}` +
      `${lines(sentences[k], EDGE, EDGE + CELL.height + LINES.foot.step, LINES.foot)}</g>` +
      `<g transform="translate(0 ${EDGE})">${svg}</g></g>`
    );
  });
  const frame = framed(document.querySelector(".st-key-headline h2")?.textContent ?? "", caption, width);
  const height = Math.ceil(drawn.length / columns) * tall;
  await handed(frame.around(content.join(""), height, theme), { format, dots: DOTS, name: file.replace(name, "board") });
}

const last = (cell, selector) => [...cell.querySelectorAll(selector)].at(-1)?.textContent ?? "";
