// What the person does: pointer, keys and toolbar turn into edits of a Graph, shown by a Picture and sent to Python.
// The browser owns the drawing until Python sends a new `rev` (a preset, an import), so a rerun never moves a node.
const editors = new WeakMap();
const LEAST_PX = 180; // from top to bottom; below this no label can be read
const DONE = { undo: "Undone.", redo: "Redone." };
const STEP = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export default function ({ parentElement, data, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".dag");
  if (!editors.has(root)) editors.set(root, new Editor(root));
  const send = (drawing) => setStateValue("graph", { rev: data.rev, drawing });
  editors.get(root).receive(data, send, (direction) => setTriggerValue("turn", direction));
}

class Editor {
  constructor(root) {
    this.root = root;
    this.stage = root.querySelector(".stage");
    this.status = root.querySelector(".status");
    this.buttons = Object.fromEntries([...root.querySelectorAll("[data-do]")].map((b) => [b.dataset.do, b]));
    this.picture = new Picture(this.stage);
    this.pointer = new Pointer(this);
    this.#listen();
  }

  #listen() {
    const actions = {
      add: () => this.addNode(this.picture.freeSpot()),
      draw: () => this.toggleDrawing(),
      rename: () => this.rename(this.selected),
      delete: () => this.remove(this.selected),
      undo: () => this.travel("undo"),
      redo: () => this.travel("redo"),
      out: () => this.zoom(1 / 1.25),
      in: () => this.zoom(1.25),
      fit: () => { this.picture.fit(); this.refresh(); },
    };
    for (const [name, button] of Object.entries(this.buttons)) button.onclick = actions[name];
    this.stage.addEventListener("focusin", (e) => this.onFocus(e.target.closest("[data-id]")?.dataset.id));
    this.root.onkeydown = (e) => { e.stopPropagation(); this.onKey(e); }; // Streamlit's own "r" and "c" must not hear it
    this.root.onkeyup = (e) => { if (e.key in STEP) this.settle(); };
    this.root.addEventListener("focusout", () => { if (this.unsettled && !this.pointer.press) this.settle(); });
    new ResizeObserver(() => this.refresh()).observe(this.stage);
    const above = new ResizeObserver(() => this.fitScreen());
    const parts = ".st-key-story, [data-testid=stMainBlockContainer]";
    for (const part of document.querySelectorAll(parts)) above.observe(part);
    addEventListener("resize", () => this.root.isConnected && this.fitScreen());
    document.fonts.ready.then(() => this.refresh()); // labels are measured, so they wait for the theme's font
  }

  // From Python

  receive(data, send, turn) {
    this.send = send;
    this.turn = turn;
    this.notes = new Map(data.notes);
    this.meanings = new Map(data.meanings);
    this.height = data.height;
    this.fixed = data.fixed;
    this.root.classList.toggle("fixed", data.fixed);
    this.fitScreen();
    const isAnother = this.rev !== data.rev;
    if (isAnother) this.#start(data);
    this.refresh();
    if (isAnother && this.turned) this.#arrive();
  }

  // The drawing and its sentence are seen whole without scrolling, on a small screen too.
  fitScreen() {
    const presents = document.querySelector(".st-key-present") !== null;
    this.root.classList.toggle("presented", presents); // to a room it is a picture, and nothing to be edited
    const scrolled = document.querySelector("[data-testid=stMain]")?.scrollTop ?? 0;
    const frame = this.stage.getBoundingClientRect(), top = frame.top + scrolled;
    const below = presents ? 8 : this.status.getBoundingClientRect().bottom - frame.bottom;
    const room = innerHeight - top - below;
    const most = presents ? room : this.height;
    this.stage.style.setProperty("--dag-height", `${Math.min(most, Math.max(LEAST_PX, room))}px`);
  }

  #start(data) {
    this.endRename(false);
    this.rev = data.rev;
    this.graph = Graph.read(data.drawing);
    this.history = new History(this.graph);
    this.selected = this.source = this.draft = null; // source: where an arrow being drawn by two picks starts
    this.drawing = false; // whether the "Draw arrow" button is on
    this.pointer.reset();
    this.picture.reset();
    this.beyond = data.beyond; // what Python keeps before and after this drawing
    this.say("");
  }

  // Give the keyboard back to the button that brought this drawing, which has been grey meanwhile.
  #arrive() {
    const button = this.buttons[this.turned];
    (button.disabled ? this.stage : button).focus({ preventScroll: true });
    this.say(DONE[this.turned]);
    this.turned = null;
  }

  // Edits

  get unsettled() { return this.graph !== this.history.present; }

  // Make the drawing on screen the one that counts: remember it for undo and tell Python.
  settle() {
    if (this.unsettled) {
      this.history.commit(this.graph);
      this.beyond = { ...this.beyond, redo: false };
      this.send(Graph.write(this.graph));
    }
    this.refresh();
  }

  // Go back to the drawing that counts.
  revert() {
    this.graph = this.history.present;
    this.stopDraft();
  }

  edit(graph, selected, sentence) {
    this.settle(); // a move by arrow keys may still be open
    this.graph = graph;
    this.selected = selected;
    this.settle();
    this.say(sentence);
  }

  addNode(p) {
    if (this.fixed) return;
    if (this.graph.nodes.length >= MAX_NODES) return this.say(`A drawing has at most ${MAX_NODES.toLocaleString("en")} nodes.`, true);
    const name = Graph.freshName(this.graph), { x, y } = this.picture.box(name, p), id = newId("n");
    this.edit(Graph.withNode(this.graph, { id, name, x, y }), id, `${name} added; F2 or a double-click renames it.`);
    this.focus(id);
  }

  connect(from, to) {
    const refusal = Graph.arrowRefusal(this.graph, from, to);
    this.source = null;
    this.stopDraft();
    if (refusal) return this.say(refusal, true);
    const arrow = `${Graph.name(this.graph, from)} → ${Graph.name(this.graph, to)}`;
    this.edit(Graph.withArrow(this.graph, from, to), to, `${arrow} added.`);
    this.focus(to);
  }

  remove(id) {
    const label = Graph.label(this.graph, id), after = Graph.without(this.graph, id);
    if (!label) return;
    if (this.source === id) this.source = null;
    this.edit(after, null, `${label} deleted.`); // nothing is selected, so a second press deletes nothing
    this.focus(null);
  }

  moveTo(id, p) {
    const { x, y } = this.picture.box(Graph.name(this.graph, id), p);
    this.graph = Graph.withChange(this.graph, id, { x, y });
    this.refresh();
  }

  travel(direction) {
    this.settle();
    if (!this.history[direction]()) return this.#turnBeyond(direction);
    this.graph = this.history.present;
    this.source = null;
    this.send(Graph.write(this.graph));
    this.stopDraft();
    this.say(DONE[direction]);
  }

  #turnBeyond(direction) {
    if (!this.beyond[direction]) return;
    this.turned = direction; // only Python has a drawing to turn to: the one that then comes says it was done
    this.beyond = {}; // until the other drawing is here
    this.turn(direction);
    this.refresh();
  }

  // Renaming: an input over the node, which stays open as long as the name is refused

  rename(id) {
    if (this.fixed || !Graph.node(this.graph, id)) return;
    const name = Graph.name(this.graph, id), input = this.picture.nameInput(id, name);
    this.renaming = { id, name, input };
    input.onkeydown = (e) => {
      e.stopPropagation();
      if (!e.isComposing && (e.key === "Enter" || e.key === "Escape") && this.endRename(e.key === "Enter")) this.focus(id);
    };
    input.onblur = () => this.endRename(true) || this.endRename(false, this.status.textContent);
    input.focus();
    input.select();
  }

  // Close the input, keeping what was typed or not; answers whether it is closed now.
  endRename(keep, sentence = "") {
    if (!this.renaming) return true;
    const { id, name, input } = this.renaming, typed = input.value.replace(/\s+/g, " ").trim();
    const refusal = keep ? Graph.nameRefusal(this.graph, id, typed) : "";
    this.say(refusal || sentence, true);
    input.setAttribute("aria-invalid", refusal !== "");
    if (refusal) return false;
    this.renaming = null; // before the input goes, because going makes it blur
    input.remove();
    if (keep && typed !== name) {
      this.edit(Graph.withChange(this.graph, id, { name: typed }), id, `${name} is now ${typed}.`);
    }
    return true;
  }

  // Arrows by picking both ends, for fingers and for keys

  get picking() { return this.drawing || this.source !== null; }

  toggleDrawing() {
    this.drawing = !this.drawing;
    this.stopPicking(this.drawing ? "Choose the node the arrow starts from." : "");
  }

  pick(id) {
    if (this.source) return this.connect(this.source, id);
    this.source = id;
    this.say(`Arrow from ${Graph.name(this.graph, id)}: choose the node it points to, or press Escape.`);
    this.refresh();
  }

  stopPicking(sentence = "") {
    this.source = null;
    this.stopDraft();
    this.say(sentence);
  }

  // Show the arrow that would go from a node to the node `to`, or as yet only to a point.
  draftTo(from, to, point) {
    const bad = to && Graph.arrowRefusal(this.graph, from, to) !== "";
    this.draft = to === from || !(to || point) ? null : { from, to, point, bad };
    this.refresh();
  }

  stopDraft() {
    this.draft = null;
    this.refresh();
  }

  // Keys

  onKey(e) {
    const id = this.stage.querySelector("[data-id]:focus")?.dataset.id;
    const act = e.ctrlKey || e.metaKey ? this.#commandAct(e) : e.altKey ? null : this.#plainAct(e, id);
    if (!act) return;
    e.preventDefault();
    act();
  }

  #commandAct(e) {
    const letter = e.key.toLowerCase();
    if (letter === "z") return () => this.travel(e.shiftKey ? "redo" : "undo");
    if (letter === "y") return () => this.travel("redo");
  }

  #plainAct(e, id) {
    const isNode = Boolean(Graph.node(this.graph, id));
    if (e.key === "Escape") return () => this.#escape();
    if (e.key === "n" || e.key === "N") return () => this.addNode(this.picture.freeSpot());
    if (id && (e.key === "Delete" || e.key === "Backspace")) return () => this.remove(id);
    if (!isNode) return null;
    if (e.key === "a" || e.key === "A") return () => { this.source = null; this.pick(id); };
    if (e.key === "F2") return () => this.rename(id);
    if (e.key in STEP) return () => this.#nudge(id, STEP[e.key], e.shiftKey ? 40 : 10);
    if (e.key === "Enter" || e.key === " ") {
      return () => (this.picking ? this.pick(id) : e.key === "Enter" && this.rename(id));
    }
  }

  #nudge(id, [dx, dy], step) {
    const { x, y } = this.picture.boxes.get(id);
    this.moveTo(id, { x: x + step * dx, y: y + step * dy });
  }

  #escape() {
    this.drawing = false;
    this.pointer.abandon();
    this.stopPicking();
  }

  // Focus, words and buttons

  select(id) {
    this.selected = id;
    this.focus(id);
    this.refresh();
  }

  focus(id) { (this.picture.elements.get(id) ?? this.stage).focus({ preventScroll: true }); }

  onFocus(id) {
    if (!id) return;
    this.selected = id;
    if (this.source && !this.pointer.press) this.draftTo(this.source, Graph.node(this.graph, id)?.id);
    this.refresh();
  }

  say(sentence, refused = false) {
    this.status.textContent = sentence;
    this.status.classList.toggle("refused", refused);
  }

  zoom(factor) {
    this.picture.zoom(factor);
    this.refresh();
  }

  refresh() {
    if (!this.graph) return;
    const active = this.root.getRootNode().activeElement;
    if (!Graph.label(this.graph, this.selected)) this.selected = null;
    this.picture.paint(this.graph, this);
    this.#refreshButtons();
    // An element that is gone, or a button that has just gone grey, must not take the keyboard with it.
    if (active && (!active.isConnected || active.disabled)) this.focus(this.selected);
  }

  #refreshButtons() {
    const { graph, history, beyond, buttons, selected, picture } = this;
    const off = {
      draw: graph.nodes.length < 2,
      rename: !Graph.node(graph, selected),
      delete: selected === null,
      undo: !history.past.length && !beyond.undo,
      redo: !history.future.length && !beyond.redo,
      out: picture.view.zoom <= MIN_ZOOM,
      in: picture.view.zoom >= MAX_ZOOM,
      fit: !graph.nodes.length,
    };
    for (const [name, isOff] of Object.entries(off)) buttons[name].disabled = isOff;
    buttons.draw.setAttribute("aria-pressed", this.drawing);
    this.stage.classList.toggle("picking", this.picking);
  }
}
