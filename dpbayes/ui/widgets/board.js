// Hosts a board in Streamlit: the server hears where the hand rests, and which stops the browser wants.
const boards = new WeakMap();
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
  const { library } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
  const host = {
    plotly: () => plotly(library),
    rests: (value) => setTriggerValue("rest", value),
    wants: () => setTriggerValue("wanted", true),
  };
  if (boards.has(root)) Object.assign(boards.get(root), host);
  else boards.set(root, new Board(root, host));
  boards.get(root).receive(bytes.slice(end));
}
