// @ts-check
// The layer of each node: below all nodes that lead to it, when cycles are turned around.

/**
 * @typedef {import("./layout.js").Edge} Edge
 * @typedef {{from: string, to: string, index: number, isTurned: boolean}} TurnedEdge
 */

/**
 * Turn the edges around that lead back to a node on the way to them; an edge from a node to itself
 * is left out.
 * @param {string} start
 * @param {readonly string[]} ids
 * @param {readonly Edge[]} edges
 * @returns {TurnedEdge[]}
 */
export function breakCycles(start, ids, edges) {
  const exits = exitsOf(edges);
  /** @type {Set<number>} */
  const back = new Set();
  /** @type {Set<string>} */
  const done = new Set();
  /** @type {Set<string>} */
  const onWay = new Set();
  for (const root of [start, ...ids]) {
    /** @type {{id: string, next: number}[]} */
    const way = []; // a stack of our own: a flow may be a long chain
    enter(root);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const index = (exits.get(top.id) ?? [])[top.next];
      top.next += 1;
      if (index === undefined) {
        way.pop();
        onWay.delete(top.id);
        done.add(top.id);
      } else {
        const to = edges[index]?.to ?? "";
        if (onWay.has(to)) back.add(index);
        else enter(to);
      }
    }
    /** @param {string} id */
    function enter(id) {
      if (done.has(id)) return;
      onWay.add(id);
      way.push({ id, next: 0 });
    }
  }
  return edges
    .map(({ from, to }, index) =>
      back.has(index) ? { from: to, to: from, index, isTurned: true } : { from, to, index, isTurned: false },
    )
    .filter((each) => each.from !== each.to);
}

/**
 * Return the layer of each node: one below the lowest that leads to it.
 * @param {string} start
 * @param {readonly string[]} ids
 * @param {readonly TurnedEdge[]} edges without cycles
 * @returns {Map<string, number>}
 */
export function assignLayers(start, ids, edges) {
  const exits = exitsOf(edges);
  /** @type {Map<string, number>} */
  const entries = new Map(ids.map((id) => [id, 0]));
  for (const { to } of edges) entries.set(to, (entries.get(to) ?? 0) + 1);
  /** @type {Map<string, number>} */
  const layers = new Map(ids.map((id) => [id, 0]));
  const ready = ids.filter((id) => entries.get(id) === 0);
  ready.sort((a, b) => Number(b === start) - Number(a === start));
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    for (const index of exits.get(id) ?? []) {
      const to = edges[index]?.to ?? "";
      layers.set(to, Math.max(layers.get(to) ?? 0, (layers.get(id) ?? 0) + 1));
      const left = (entries.get(to) ?? 0) - 1;
      entries.set(to, left);
      if (left === 0) ready.push(to);
    }
  }
  return layers;
}

/**
 * Return the places of the edges that leave each node.
 * @param {readonly Edge[]} edges
 */
function exitsOf(edges) {
  /** @type {Map<string, number[]>} */
  const found = new Map();
  edges.forEach(({ from }, index) => {
    const known = found.get(from);
    if (known === undefined) found.set(from, [index]);
    else known.push(index);
  });
  return found;
}
