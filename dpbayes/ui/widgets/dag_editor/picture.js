// The drawing on the page: pills, arrows and the draft arrow, updated in place so that focus survives a redraw.
// Nodes and arrows live in two SVGs of the same size: nodes come first for the Tab key, yet are painted on top.
const SVG = "http://www.w3.org/2000/svg";
const MIN_LABEL_PX = 9, FEW_LABEL_PX = 15, FEW = 12, MIN_ZOOM = 1, MAX_ZOOM = 6; // few names have room for larger letters
const FINGER_PX = matchMedia("(pointer: coarse)").matches ? 40 : 0; // the least that a finger hits without aiming
const MAX_BENT = 80; // with more nodes than this, arrows stay straight: bending them would slow a drag down
const pen = document.createElement("canvas").getContext("2d");

const make = (tag, cls) => {
  const element = document.createElementNS(SVG, tag);
  if (cls) element.setAttribute("class", cls);
  return element;
};
const set = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
};
const write = (element, text) => { if (element.textContent !== text) element.textContent = text; };

class Picture {
  constructor(stage) {
    this.stage = stage;
    this.edgeSvg = stage.querySelector(".edges");
    this.nodeSvg = stage.querySelector(".nodes");
    this.edgeLayer = this.edgeSvg.querySelector(".layer");
    this.nodeLayer = this.nodeSvg.querySelector(".layer");
    this.draft = this.edgeSvg.querySelector(".draft");
    this.elements = new Map();
    this.reset();
  }

  // Geometry

  toWorld(event) {
    const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.nodeSvg.getScreenCTM().inverse());
    return { x: p.x, y: p.y };
  }

  nodeAt(graph, p) {
    return graph.nodes.findLast((n) => onPill(this.boxes.get(n.id), p, 4))?.id;
  }

  // Lay every node out as a pill that fits its label; labels shrink as nodes grow in number, never below legible.
  // What is made legible against a small screen does not grow as one zooms in: that is how crowded names come apart.
  measure(graph) {
    const style = getComputedStyle(this.stage);
    const { clientWidth, clientHeight } = this.stage;
    const scale = Math.min(clientWidth / WORLD.width, clientHeight / WORLD.height) || 1;
    const byCount = clamp(20 - 0.26 * (graph.nodes.length - 8), 9, 20);
    const shown = scale * this.view.zoom;
    this.finger = FINGER_PX / shown;
    const isFew = graph.nodes.length <= FEW;
    this.font = Math.max(byCount, isFew ? Math.min(FEW_LABEL_PX / shown, 34) : Math.min(MIN_LABEL_PX / shown, 26));
    pen.font = `${this.font}px ${style.fontFamily}`;
    this.boxes = new Map(graph.nodes.map((n) => [n.id, this.box(n.name, n)]));
  }

  // The name, cut short when it is too long to draw.
  #label(name) {
    const room = 9 * this.font;
    if (pen.measureText(name).width <= room) return name;
    const letters = [...name];
    while (letters.length > 1 && pen.measureText(`${letters.join("")}…`).width > room) letters.pop();
    return `${letters.join("").trimEnd()}…`;
  }

  // The pill of a node called `name` if its centre were at p, kept wholly inside the world.
  box(name, p) {
    const label = this.#label(name), h = 1.9 * this.font;
    const w = Math.max(pen.measureText(label).width + 1.6 * this.font, 1.4 * h);
    const edge = 0.6 * this.font; // room for the handle, which sticks out
    return {
      label, w, h,
      x: clamp(p.x, w / 2 + edge, WORLD.width - w / 2 - edge),
      y: clamp(p.y, h / 2 + edge, WORLD.height - h / 2 - edge),
    };
  }

  // The place nearest to the middle of the view where a new pill covers no other.
  freeSpot() {
    const width = WORLD.width / this.view.zoom, height = WORLD.height / this.view.zoom;
    const gap = { w: 7 * this.font, h: 3 * this.font };
    const spots = [];
    for (let i = 1; i < 12; i++) {
      for (let j = 1; j < 12; j++) {
        spots.push({ x: this.view.x + (i / 12 - 0.5) * width, y: this.view.y + (j / 12 - 0.5) * height });
      }
    }
    const far = (q) => Math.hypot(q.x - this.view.x, q.y - this.view.y);
    const free = (q) => ![...this.boxes.values()].some(
      (b) => Math.abs(b.x - q.x) < (b.w + gap.w) / 2 && Math.abs(b.y - q.y) < (b.h + gap.h) / 2);
    return spots.sort((q, r) => far(q) - far(r)).find(free) ?? this.view;
  }

  // What part of the world is in view

  reset() { this.look({ x: WORLD.width / 2, y: WORLD.height / 2, zoom: MIN_ZOOM }); }
  zoom(factor) { this.look({ ...this.view, zoom: this.view.zoom * factor }); }
  pan(dx, dy) { this.look({ ...this.view, x: this.view.x + dx, y: this.view.y + dy }); }

  fit() {
    const boxes = [...this.boxes.values()], margin = 2 * this.font;
    const left = Math.min(...boxes.map((b) => b.x - b.w / 2)), right = Math.max(...boxes.map((b) => b.x + b.w / 2));
    const top = Math.min(...boxes.map((b) => b.y - b.h / 2)), bottom = Math.max(...boxes.map((b) => b.y + b.h / 2));
    const zoom = Math.min(WORLD.width / (right - left + 2 * margin), WORLD.height / (bottom - top + 2 * margin), 2.5);
    this.look({ x: (left + right) / 2, y: (top + bottom) / 2, zoom });
  }

  look({ x, y, zoom }) {
    zoom = clamp(zoom, MIN_ZOOM, MAX_ZOOM);
    const w = WORLD.width / zoom, h = WORLD.height / zoom;
    this.view = { zoom, x: clamp(x, w / 2, WORLD.width - w / 2), y: clamp(y, h / 2, WORLD.height - h / 2) };
    const viewBox = `${this.view.x - w / 2} ${this.view.y - h / 2} ${w} ${h}`;
    set(this.edgeSvg, { viewBox });
    set(this.nodeSvg, { viewBox });
  }

  // An input for the name of node `id`, over its pill.
  nameInput(id, name) {
    const pill = this.elements.get(id).querySelector(".pill").getBoundingClientRect();
    const frame = this.stage.getBoundingClientRect(), input = document.createElement("input");
    const width = clamp(pill.width + 40, 140, frame.width);
    const left = clamp(pill.left + pill.width / 2 - frame.left - width / 2, 0, frame.width - width);
    const top = pill.top + pill.height / 2 - frame.top;
    Object.assign(input, { className: "rename", value: name, maxLength: MAX_NAME, autocomplete: "off" });
    input.setAttribute("aria-label", `new name for ${name}`);
    input.style.cssText = `left:${left}px;top:${top}px;width:${width}px`;
    this.stage.append(input);
    return input;
  }

  // Drawing

  paint(graph, { selected, source, draft, notes, meanings }) {
    this.measure(graph);
    this.stage.classList.toggle("empty", !graph.nodes.length);
    this.#keep(this.nodeLayer, graph.nodes, nodeElement);
    this.#keep(this.edgeLayer, graph.edges, edgeElement);
    for (const node of graph.nodes) {
      const classes = { selected: node.id === selected, source: node.id === source, noted: notes.has(node.name) };
      this.#paintNode(graph, node, notes.get(node.name) ?? meanings.get(node.name), classes);
    }
    for (const edge of graph.edges) this.#paintEdge(graph, edge, edge.id === selected);
    this.#paintDraft(draft);
  }

  // Make the layer hold one element per item, in order, without ever moving one that is already there.
  #keep(layer, items, create) {
    const wanted = new Set(items.map((item) => item.id));
    for (const element of [...layer.children]) {
      if (!wanted.has(element.dataset.id)) { this.elements.delete(element.dataset.id); element.remove(); }
    }
    items.forEach(({ id }, place) => {
      if (this.elements.has(id)) return;
      const element = create();
      element.dataset.id = id;
      set(element, { tabindex: 0, role: "button" });
      this.elements.set(id, element);
      layer.insertBefore(element, layer.children[place] ?? null);
    });
  }

  #paintNode(graph, node, note, { selected, source, noted }) {
    const { label, x, y, w, h } = this.boxes.get(node.id), element = this.elements.get(node.id);
    const [title, ring, reach, pill, text, grip, port] = element.children;
    const parents = Graph.parents(graph, node.id);
    const about = parents.length ? `parents ${parents.join(", ")}` : "no parents";
    set(element, {
      transform: `translate(${x} ${y})`,
      "aria-label": `node ${node.name}, ${about}${note ? `, ${note}` : ""}`,
      class: `node${selected ? " selected" : ""}${source ? " source" : ""}${noted ? " noted" : ""}`,
    });
    write(title, note ? `${node.name}: ${note}` : node.name);
    set(ring, { x: -w / 2 - 4, y: -h / 2 - 4, width: w + 8, height: h + 8, rx: h / 2 + 4 });
    set(pill, { x: -w / 2, y: -h / 2, width: w, height: h, rx: h / 2 });
    set(text, { "font-size": this.font });
    write(text, label);
    const wide = Math.max(w, this.finger), high = Math.max(h, this.finger), grown = Math.max(0, this.finger / 2 - 0.6 * h);
    set(reach, { x: -wide / 2, y: -high / 2, width: wide, height: high });
    set(grip, { cx: w / 2 + grown / 2, r: 0.6 * h + grown }); // it grows outwards, and leaves the pill to be taken
    const r = (FINGER_PX ? 0.6 : 0.42) * this.font, arm = 0.55 * r;
    set(port, {
      transform: `translate(${w / 2})`,
      d: `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0M${-arm} 0H${arm}M0 ${-arm}V${arm}`,
    });
  }

  #paintEdge(graph, edge, selected) {
    const element = this.elements.get(edge.id);
    const [title, hit, line, head] = element.children;
    const names = [Graph.name(graph, edge.from), Graph.name(graph, edge.to)];
    const from = this.boxes.get(edge.from), to = this.boxes.get(edge.to);
    const others = [...this.boxes.values()].filter((box) => box !== from && box !== to);
    const curve = route(from, to, graph.nodes.length > MAX_BENT ? [] : others);
    set(element, { class: `edge${selected ? " selected" : ""}`, "aria-label": `arrow ${names.join(" to ")}` });
    write(title, names.join(" → "));
    this.#draw(curve, line, head, hit);
  }

  #draw({ start, control, end }, line, head, hit) {
    const size = 0.62 * this.font + 2;
    const length = Math.hypot(end.x - control.x, end.y - control.y) || 1;
    const ux = (end.x - control.x) / length, uy = (end.y - control.y) / length;
    const neck = { x: end.x - 0.8 * size * ux, y: end.y - 0.8 * size * uy };
    const wing = (side) => `${end.x - size * ux - side * 0.45 * size * uy} ${end.y - size * uy + side * 0.45 * size * ux}`;
    const d = `M${start.x} ${start.y}Q${control.x} ${control.y} ${neck.x} ${neck.y}`;
    set(line, { d });
    set(head, { d: `M${end.x} ${end.y}L${wing(1)}L${wing(-1)}Z` });
    if (hit) set(hit, { d });
  }

  #paintDraft(draft) {
    set(this.draft, { class: `draft${draft?.bad ? " bad" : ""}`, visibility: draft ? "visible" : "hidden" });
    if (!draft) return;
    const to = draft.to ? this.boxes.get(draft.to) : draft.point;
    this.#draw(route(this.boxes.get(draft.from), to, []), this.draft.children[0], this.draft.children[1]);
  }
}

function nodeElement() {
  const element = make("g", "node");
  const port = make("path", "port");
  element.append(make("title"), make("rect", "ring"), make("rect", "reach"));
  element.append(make("rect", "pill"), make("text"), make("circle", "grip"), port);
  return element;
}

function edgeElement() {
  const element = make("g", "edge");
  element.append(make("title"), make("path", "hit"), make("path", "line"), make("path", "head"));
  return element;
}
