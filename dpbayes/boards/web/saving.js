// The pictures of a board as a file: with title, headline and facts inside, and whole legends.
const CELL = { width: 640, height: 380 }; // pixels of each of several pictures
const ALONE = { width: 960, height: 540 };
const DOTS = 2;
const FONT = "Helvetica, Arial, sans-serif"; // what every program that opens the file has
const EDGE = 20;
const LINES = { title: { size: 18, step: 24 }, foot: { size: 12, step: 16 } };

// Save these panels, each { chart, title, caption }, beside each other in at most two columns.
async function saved(panels, { headline, caption, name, format }) {
  const cell = panels.length > 1 ? CELL : ALONE;
  const drawn = await Promise.all(panels.map(({ chart }) => drawing(chart.whole(), cell)));
  const { theme } = panels[0].chart.whole();
  const columns = Math.min(2, panels.length);
  const notes = panels.map((panel) => wrapped(panel.caption, cell.width, LINES.foot.size));
  const tall = EDGE + cell.height + LINES.foot.step * Math.max(...notes.map((texts) => texts.length)) + EDGE;
  const content = drawn.map(
    (svg, k) =>
      `<g transform="translate(${(k % columns) * cell.width} ${Math.floor(k / columns) * tall})">` +
      `<g font-family="${FONT}" fill="${theme.font.color}">${lines([panels[k].title], EDGE, 14, LINES.foot, 'font-weight="bold"')}` +
      `${lines(notes[k], EDGE, EDGE + cell.height + LINES.foot.step, LINES.foot)}</g>` +
      `<g transform="translate(0 ${EDGE})">${svg}</g></g>`,
  );
  const size = { width: columns * cell.width, height: Math.ceil(panels.length / columns) * tall };
  const { svg, whole } = framed(content.join(""), { headline, caption, size, theme });
  const blob = format === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await painted(svg, whole);
  offer(blob, `${name}.${format}`);
}

// What is inside a chart, at a size, as an SVG of its own.
async function drawing({ plotly, plot, theme, layout }, { width, height }) {
  const legend = { ...layout.legend, maxheight: 10000 }; // whole, where the page would scroll it
  const more = { ...layout, legend, template: { layout: theme }, width, height, font: { family: FONT } };
  const figure = { data: plot.data, layout: { ...plot.layout, ...more } };
  const inner = await plotly.toImage(figure, { format: "svg", width, height, imageDataOnly: true });
  return `<svg width="${width}" height="${height}">${inner.slice(inner.indexOf("<svg"))}</svg>`;
}

// The headline above a content of some size, and its facts below.
function framed(content, { headline, caption, size, theme }) {
  const [head, foot] = [wrapped(headline, size.width, LINES.title.size), wrapped(caption, size.width, LINES.foot.size)];
  const above = EDGE + LINES.title.step * head.length;
  const whole = { width: size.width, height: above + size.height + EDGE + LINES.foot.step * foot.length };
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${whole.width}" ` +
    `height="${whole.height}" viewBox="0 0 ${whole.width} ${whole.height}"><title>${asText(headline)}</title>` +
    `<rect width="100%" height="100%" fill="${theme.paper_bgcolor}"/>` +
    `<g font-family="${FONT}" fill="${theme.font.color}">${lines(head, EDGE, EDGE + 14, LINES.title)}` +
    `${lines(foot, EDGE, above + size.height + EDGE, LINES.foot)}</g>` +
    `<g transform="translate(0 ${above})">${content}</g></svg>`;
  return { svg, whole };
}

const lines = (texts, left, top, { size, step }, more = "") =>
  texts
    .map((text, k) => `<text x="${left}" y="${top + step * k}" font-size="${size}" ${more}>${asText(text)}</text>`)
    .join("");

// Lines that fit beside each other, at the width that the file's own font has here.
function wrapped(text, width, size) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${size}px ${FONT}`;
  const found = [""];
  for (const word of text.split(/\s+/)) {
    const longer = `${found.at(-1)} ${word}`.trim();
    if (pen.measureText(longer).width <= width - 2 * EDGE) found[found.length - 1] = longer;
    else found.push(word);
  }
  return found.filter(Boolean);
}

const asText = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

async function painted(svg, { width, height }) {
  const picture = new Image();
  await new Promise((done, fail) => {
    Object.assign(picture, { onload: done, onerror: fail });
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
  const canvas = Object.assign(document.createElement("canvas"), { width: width * DOTS, height: height * DOTS });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((tell) => canvas.toBlob(tell, "image/png"));
}

function offer(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
