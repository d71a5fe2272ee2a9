// Charts as a file: with title, settings and whole legends inside, of the size of a page or of a slide.
const SIZES = { page: { width: 800, height: 500, dots: 2 }, slide: { width: 1280, height: 720, dots: 1.5 } };
const FONT = "Helvetica, Arial, sans-serif"; // what every program that opens the file has
const EDGE = 20;
const LINES = { title: { size: 18, step: 24 }, foot: { size: 12, step: 16 } };

async function saved({ alt, file, caption, ...chart }, { format, size }) {
  const { width, height, dots } = SIZES[size];
  const frame = framed(alt, caption, width);
  const part = await drawing(chart, width, Math.max(height - frame.above - frame.below, chart.plot.layout.height));
  await handed(frame.around(part.svg, part.height, chart.theme), { format, dots, name: `${file}-${size}` });
}

// What is inside a chart, at a size, as an SVG of its own.
async function drawing({ plotly, plot, theme, layout }, width, height) {
  const more = {
    template: { layout: theme },
    width,
    height,
    font: { family: FONT },
    margin: layout.margin,
    showlegend: layout.showlegend,
    legend: { ...layout.legend, maxheight: 10000 }, // whole, where the page would scroll it
  };
  const inner = await plotly.toImage(
    { data: plot.data, layout: { ...plot.layout, ...more } },
    { format: "svg", width, height, imageDataOnly: true },
  );
  return { svg: `<svg width="${width}" height="${height}">${inner.slice(inner.indexOf("<svg"))}</svg>`, width, height };
}

// A title above a content of some height, and its settings below.
function framed(title, caption, width) {
  const [head, foot] = [wrapped(title, width, LINES.title.size), wrapped(caption, width, LINES.foot.size)];
  const [above, below] = [EDGE + LINES.title.step * head.length, EDGE + LINES.foot.step * foot.length];
  const around = (content, height, theme) => {
    const whole = { width, height: above + height + below };
    const svg =
      `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${whole.width}" ` +
      `height="${whole.height}" viewBox="0 0 ${whole.width} ${whole.height}"><title>${asText(title)}</title>` +
      `<rect width="100%" height="100%" fill="${theme.paper_bgcolor}"/>` +
      `<g font-family="${FONT}" fill="${theme.font.color}">${lines(head, EDGE, EDGE + 14, LINES.title)}` +
      `${lines(foot, EDGE, above + height + EDGE, LINES.foot)}</g>` +
      `<g transform="translate(0 ${above})">${content}</g></svg>`;
    return { svg, whole };
  };
  return { above, below, around };
}

const lines = (texts, left, top, { size, step }, more = "") =>
  texts
    .map((text, k) => `<text x="${left}" y="${top + step * k}" font-size="${size}" ${more}>${asText(text)}</text>`)
    .join("");

async function handed({ svg, whole }, { format, dots, name }) {
  const blob = new Blob([svg], { type: "image/svg+xml" });
  hand(format === "svg" ? blob : await painted(svg, whole, dots), `${name}.${format}`);
}

// Lines that fit beside each other, at the width that the file's own font has here.
function wrapped(text, width, size) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `${size}px ${FONT}`;
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (pen.measureText(longer).width <= width - 2 * EDGE) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.filter(Boolean);
}

const asText = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

async function painted(svg, { width, height }, dots) {
  const picture = new Image();
  await new Promise((done, fail) => {
    Object.assign(picture, { onload: done, onerror: fail });
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  });
  const canvas = Object.assign(document.createElement("canvas"), { width: width * dots, height: height * dots });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((tell) => canvas.toBlob(tell, "image/png"));
}

function hand(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
