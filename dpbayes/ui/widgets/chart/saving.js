// A chart as a file: with its title, its settings and its whole legend inside, of the size of a page or of a slide.
const SIZES = { page: { width: 800, height: 500, dots: 2 }, slide: { width: 1280, height: 720, dots: 1.5 } };
const FONT = "Helvetica, Arial, sans-serif"; // what every program that opens the file has
const EDGE = 20;

async function saved({ plotly, plot, theme, layout, alt, file, told }, { format, size }) {
  const { width, height, dots } = SIZES[size];
  const [title, foot] = [wrapped(alt, width, 18), wrapped(told, width, 12)];
  const [above, below] = [EDGE + 24 * title.length, EDGE + 16 * foot.length];
  const more = {
    template: { layout: theme },
    width,
    height: Math.max(height - above - below, plot.layout.height),
    font: { family: FONT },
    margin: layout.margin,
    showlegend: layout.showlegend,
    legend: { ...layout.legend, maxheight: 10000 }, // whole, where the page would scroll it
  };
  const inner = await plotly.toImage(
    { data: plot.data, layout: { ...plot.layout, ...more } },
    { format: "svg", width, height: more.height, imageDataOnly: true },
  );
  const whole = { width, height: above + more.height + below };
  const lines = (texts, top, step, size) =>
    texts.map((text, k) => `<text x="${EDGE}" y="${top + step * k}" font-size="${size}">${asText(text)}</text>`).join("");
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${whole.width}" ` +
    `height="${whole.height}" viewBox="0 0 ${whole.width} ${whole.height}"><title>${asText(alt)}</title>` +
    `<rect width="100%" height="100%" fill="${theme.paper_bgcolor}"/>` +
    `<g font-family="${FONT}" fill="${theme.font.color}">${lines(title, EDGE + 14, 24, 18)}` +
    `${lines(foot, above + more.height + EDGE, 16, 12)}</g>` +
    `<svg y="${above}" width="${width}" height="${more.height}">${inner.slice(inner.indexOf("<svg"))}</svg></svg>`;
  const blob = new Blob([svg], { type: "image/svg+xml" });
  hand(format === "svg" ? blob : await painted(svg, whole, dots), `${file}-${size}.${format}`);
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
