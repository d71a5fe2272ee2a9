// Hosts a board in Streamlit: the server hears where the hand rests, and which stops the browser wants.
const boards = new WeakMap();
const delivered = new Map(); // by the name of a board: the last message, and where the hand has rested
let library;

function plotly(address) {
  library ??= new Promise((resolve, reject) => {
    const tag = Object.assign(document.createElement("script"), { src: address, onerror: () => reject(new Error(address)) });
    tag.onload = () => resolve(window.Plotly);
    document.head.append(tag);
  });
  return library;
}

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".board");
  const bytes = new Uint8Array(data);
  const end = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const { library, name, value, heard, edition, frames } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
  const host = {
    plotly: () => plotly(library),
    rests: (text) => {
      const sent = Date.now();
      Object.assign(delivered.get(name), { text, sent });
      setTriggerValue("rest", [text, sent]);
    },
    wants: () => setTriggerValue("wanted", true),
  };
  const isNew = !boards.has(root);
  if (isNew) boards.set(root, new Board(root, host));
  else Object.assign(boards.get(root), host);
  const before = delivered.get(name);
  if (!isNew && before?.edition === edition && before.frames === frames) return; // drawn once more
  // Where the hand has rested counts until the server has heard it and begins with another value.
  const hand = before?.sent && (before.edition === edition || before.sent > heard) ? before : null;
  delivered.set(name, { edition, frames, text: hand?.text, sent: hand?.sent });
  boards.get(root).receive(bytes.slice(end), hand?.text ?? value);
}
