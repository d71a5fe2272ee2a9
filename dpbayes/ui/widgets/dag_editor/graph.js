// The drawing as a value: every edit returns a new graph, so undo is a list of graphs. Nothing here touches the page.
// A graph is {nodes: [{id, name, x, y}], edges: [{id, from, to}]}; from and to are node ids, because names are free text.
const WORLD = { width: 1000, height: 600 };
const MAX_NODES = 1000;
const MAX_NAME = 200;
let lastId = 0;
const newId = (kind) => `${kind}${++lastId}`;

const Graph = {
  read({ nodes, edges }) {
    const ids = new Map(nodes.map((n) => [n.name, newId("n")]));
    return {
      nodes: nodes.map((n) => ({ ...n, id: ids.get(n.name) })),
      edges: edges.map(([from, to]) => ({ id: newId("e"), from: ids.get(from), to: ids.get(to) })),
    };
  },

  write(graph) {
    const tenth = (value) => Math.round(value * 10) / 10;
    return {
      nodes: graph.nodes.map(({ name, x, y }) => ({ name, x: tenth(x), y: tenth(y) })),
      edges: graph.edges.map((e) => [Graph.name(graph, e.from), Graph.name(graph, e.to)]),
    };
  },

  node: (graph, id) => graph.nodes.find((n) => n.id === id),
  edge: (graph, id) => graph.edges.find((e) => e.id === id),
  name: (graph, id) => Graph.node(graph, id).name,
  label(graph, id) {
    const edge = Graph.edge(graph, id);
    return edge ? `${Graph.name(graph, edge.from)} → ${Graph.name(graph, edge.to)}` : Graph.node(graph, id)?.name;
  },
  parents: (graph, id) => graph.edges.filter((e) => e.to === id).map((e) => Graph.name(graph, e.from)),

  freshName(graph) {
    const taken = new Set(graph.nodes.map((n) => n.name));
    let i = 1;
    while (taken.has(`X${i}`)) i++;
    return `X${i}`;
  },

  // Why `name` cannot be the name of node `id`, or "".
  nameRefusal(graph, id, name) {
    if (!name) return "A node needs a name.";
    if (name.length > MAX_NAME) return `A name has at most ${MAX_NAME} characters.`;
    const taken = graph.nodes.some((n) => n.id !== id && n.name === name);
    return taken ? `There is already a node named ${name}; choose another name.` : "";
  },

  // Why an arrow from -> to cannot be added, or "".
  arrowRefusal(graph, from, to) {
    const arrow = `${Graph.name(graph, from)} → ${Graph.name(graph, to)}`;
    if (from === to) return `${Graph.name(graph, from)} cannot be its own parent.`;
    if (graph.edges.some((e) => e.from === from && e.to === to)) return `${arrow} is already there.`;
    const back = Graph.path(graph, to, from);
    return back ? `${arrow} would close a cycle: ${back.map((id) => Graph.name(graph, id)).join(" → ")}` : "";
  },

  // A shortest directed path of ids from `start` to `goal`, or null.
  path(graph, start, goal) {
    const cameFrom = new Map([[start, null]]);
    for (const id of cameFrom.keys()) { // a Map's keys include those added while looping, so this is breadth first
      if (id === goal) {
        const path = [];
        for (let at = goal; at !== null; at = cameFrom.get(at)) path.unshift(at);
        return path;
      }
      for (const e of graph.edges) if (e.from === id && !cameFrom.has(e.to)) cameFrom.set(e.to, id);
    }
    return null;
  },

  withNode: (graph, node) => ({ ...graph, nodes: [...graph.nodes, node] }),
  withChange: (graph, id, change) => ({
    ...graph, nodes: graph.nodes.map((n) => (n.id === id ? { ...n, ...change } : n)),
  }),
  withArrow: (graph, from, to) => ({ ...graph, edges: [...graph.edges, { id: newId("e"), from, to }] }),
  without: (graph, id) => ({
    nodes: graph.nodes.filter((n) => n.id !== id),
    edges: graph.edges.filter((e) => e.id !== id && e.from !== id && e.to !== id),
  }),
};

class History {
  constructor(graph) { this.past = []; this.present = graph; this.future = []; }

  commit(graph) {
    this.past.push(this.present);
    this.present = graph;
    this.future = [];
  }

  // Both answer whether there was anywhere to go.
  undo() { return this.#step(this.past, this.future); }
  redo() { return this.#step(this.future, this.past); }

  #step(from, to) {
    if (!from.length) return false;
    to.push(this.present);
    this.present = from.pop();
    return true;
  }
}

// Geometry of pills {x, y, w, h} and of the arrows between them

const HANDLE = 0.36; // the radius of a handle and of the room around it, in heights of its pill
const clamp = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));

// Where the ray from the centre of a pill towards point p leaves the pill, and the handle at its right end.
function border(box, p) {
  const r = box.h / 2, a = box.w / 2 - r;
  const length = Math.hypot(p.x - box.x, p.y - box.y) || 1;
  const ux = (p.x - box.x) / length, uy = (p.y - box.y) / length;
  const flat = r / Math.abs(uy);
  const t = Math.abs(flat * ux) <= a ? flat : a * Math.abs(ux) + Math.sqrt(Math.max(r * r - a * a * uy * uy, 0));
  const under = (HANDLE * box.h) ** 2 - ((box.w / 2) * uy) ** 2;
  const end = under > 0 ? Math.max(t, (box.w / 2) * ux + Math.sqrt(under)) : t;
  return { x: box.x + end * ux, y: box.y + end * uy };
}

const onPill = (box, p, margin = 0) => {
  const a = box.w / 2 - box.h / 2;
  return Math.hypot(p.x - clamp(p.x, box.x - a, box.x + a), p.y - box.y) <= box.h / 2 + margin;
};

const along = (a, c, b, t) => ({
  x: (1 - t) ** 2 * a.x + 2 * t * (1 - t) * c.x + t * t * b.x,
  y: (1 - t) ** 2 * a.y + 2 * t * (1 - t) * c.y + t * t * b.y,
});

const inWorld = ({ x, y }) => x > 0 && x < WORLD.width && y > 0 && y < WORLD.height;

// A curve from box to box (or to a bare point), bent just enough to miss the other boxes when it can be.
function route(from, to, others) {
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const nx = -(to.y - from.y) / length, ny = (to.x - from.x) / length;
  let straight;
  for (const bend of [0, 50, -50, 100, -100, 160, -160, 230, -230]) {
    const control = { x: middle.x + bend * nx, y: middle.y + bend * ny };
    const start = border(from, control), end = to.w ? border(to, control) : to;
    const curve = { start, control, end };
    straight ??= curve;
    if (inWorld(along(start, control, end, 0.5)) && !others.some((box) => crosses(curve, box))) return curve;
  }
  return straight;
}

function crosses({ start, control, end }, box) {
  for (let i = 1; i < 24; i++) if (onPill(box, along(start, control, end, i / 24), 3)) return true;
  return false;
}
