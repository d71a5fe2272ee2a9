// Mouse, pen and fingers: drags, taps, double taps and pinches on the stage become calls of the editor.
const DRAG_PX = 4, TWICE_MS = 400, TWICE_PX = 24;
const apart = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
const midway = (a, b) => ({ clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 });

class Pointer {
  constructor(editor) {
    this.editor = editor;
    this.picture = editor.picture;
    this.down = new Map(); // the last event of every finger or button that is down
    this.reset();
    const { stage } = editor;
    stage.onpointerdown = (e) => this.onDown(e);
    stage.onpointermove = (e) => (this.down.size > 1 ? this.onPinch(e) : this.press ? this.onDrag(e) : this.onHover(e));
    stage.onpointerup = (e) => this.onUp(e);
    stage.onpointercancel = (e) => { this.down.delete(e.pointerId); this.abandon(); };
    // Without this a tap is followed by made-up mouse events, which would take the focus away again.
    stage.addEventListener("touchend", (e) => e.target.closest(".rename") || e.preventDefault(), { passive: false });
    // One finger on empty ground scrolls the page; what is taken hold of, or pinched, moves alone.
    const grips = (e) => e.touches.length > 1 || (e.target.closest("[data-id]") && !e.target.closest(".rename"));
    stage.addEventListener("touchstart", (e) => grips(e) && e.preventDefault(), { passive: false });
    stage.addEventListener("wheel", (e) => this.onWheel(e), { passive: false });
  }

  reset() { this.press = this.lastTap = null; }

  onDown(e) {
    const { editor, picture } = this;
    if (e.target.closest(".rename") || e.button !== 0) return;
    editor.endRename(true);
    this.down.set(e.pointerId, e);
    if (this.down.size > 1) return this.abandon(); // a second finger: pinch
    editor.stage.setPointerCapture(e.pointerId);
    const id = e.target.closest("[data-id]")?.dataset.id ?? null, isNode = Boolean(Graph.node(editor.graph, id));
    const at = picture.toWorld(e), box = picture.boxes.get(id);
    // A browser takes a finger on a pill for one on the handle nearby.
    const onHandle = e.target.matches(".grip, .port") && at.x > box?.x + box?.w / 2 - 0.6 * box?.h;
    const arrow = isNode && (editor.drawing || onHandle);
    const grab = box && { x: at.x - box.x, y: at.y - box.y };
    this.press = { id, kind: arrow ? "arrow" : isNode ? "node" : id ? "edge" : "space", at, grab, first: e, moved: false };
    editor.select(id);
  }

  onHover(e) {
    const { editor } = this, p = this.picture.toWorld(e);
    if (editor.source && e.pointerType !== "touch") editor.draftTo(editor.source, this.picture.nodeAt(editor.graph, p), p);
  }

  onDrag(e) {
    const { press, editor, picture } = this, p = picture.toWorld(e);
    press.moved ||= apart(e, press.first) > DRAG_PX;
    if (!press.moved) return;
    if (press.kind === "arrow") editor.draftTo(press.id, picture.nodeAt(editor.graph, p), p);
    if (press.kind === "node") editor.moveTo(press.id, { x: p.x - press.grab.x, y: p.y - press.grab.y });
    if (press.kind === "space") picture.pan(press.at.x - p.x, press.at.y - p.y);
  }

  onUp(e) {
    const { press, editor } = this;
    this.down.delete(e.pointerId);
    this.press = null;
    if (!press) return;
    if (!press.moved) return this.onTap(press, e);
    const target = editor.draft?.to;
    editor.stopDraft();
    if (press.kind === "arrow" && target) editor.connect(press.id, target);
    else editor.settle();
  }

  onTap({ id, kind, at }, e) {
    const { editor, lastTap: last } = this;
    const twice = last?.id === id && apart(e, last.e) < TWICE_PX && e.timeStamp - last.e.timeStamp < TWICE_MS;
    const onNode = kind === "node" || kind === "arrow";
    this.lastTap = twice || editor.picking ? null : { id, e };
    if (editor.picking && onNode) editor.pick(id);
    else if (editor.picking) editor.stopPicking();
    else if (twice && onNode) editor.rename(id);
    else if (twice && kind === "space") editor.addNode(at);
    else editor.say("");
  }

  onPinch(e) {
    const before = this.down.get(e.pointerId);
    const other = [...this.down.values()].find((p) => p.pointerId !== e.pointerId);
    if (!before) return;
    this.down.set(e.pointerId, e);
    this.picture.pan(...this.slid(midway(before, other), midway(e, other)));
    this.editor.zoom((apart(e, other) || 1) / (apart(before, other) || 1));
  }

  // How far the ground slides, in the world, for it to follow the fingers.
  slid(before, after) {
    const [from, to] = [before, after].map((p) => this.picture.toWorld(p));
    return [from.x - to.x, from.y - to.y];
  }

  onWheel(e) {
    if (!e.ctrlKey) return; // a bare wheel scrolls the page
    e.preventDefault();
    this.editor.zoom(Math.exp(-clamp(e.deltaY, -100, 100) / 300));
  }

  // Drop whatever was being dragged, as if it had never been touched.
  abandon() {
    this.press = null;
    this.editor.revert();
  }
}
