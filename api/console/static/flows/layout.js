// @ts-check
// Places the nodes of a graph in layers, from top to bottom, and routes its edges between them.
//
// After Sugiyama, Tagawa and Toda (1981): turn cycles around, assign layers, put a place into each
// layer that an edge passes, order each layer by the neighbours of its nodes, and set positions.

import { assignLayers, breakCycles } from "./layers.js";
import { neighbours, orderLayers } from "./order.js";

/**
 * @typedef {{id: string}} Vertex
 * @typedef {{from: string, to: string}} Edge
 * @typedef {{x: number, y: number}} Point
 * @typedef {{id: string, x: number, y: number}} PlacedNode its upper left corner
 * @typedef {{index: number, points: Point[], isBackward: boolean}} PlacedEdge `index` of the edge
 * @typedef {{width: number, height: number, nodes: PlacedNode[], edges: PlacedEdge[]}} Layout
 * @typedef {{nodeWidth: number, nodeHeight: number, gapX: number, gapY: number}} Sizes
 */

/** @type {Sizes} */
export const SIZES = { nodeWidth: 190, nodeHeight: 56, gapX: 34, gapY: 66 };
const PASS_WIDTH = 24; // of the place where an edge passes a layer
const MARGIN = 24;
const ROUNDS = 8;

/**
 * Return where nodes and edges are drawn; the same graph has the same layout.
 * @param {string} start
 * @param {readonly Vertex[]} vertices
 * @param {readonly Edge[]} edges each between two of the vertices
 * @param {Sizes} [sizes]
 * @returns {Layout}
 */
export function layOut(start, vertices, edges, sizes = SIZES) {
  if (vertices.length === 0) return { width: 0, height: 0, nodes: [], edges: [] };
  const ids = vertices.map((each) => each.id);
  const turned = breakCycles(start, ids, edges);
  const layerOf = assignLayers(start, ids, turned);
  const { layers, chains } = withPasses(ids, layerOf, turned);
  const ordered = orderLayers(layers, chains);
  const xs = positions(ordered, chains, new Set(ids), sizes);
  const stepY = sizes.nodeHeight + sizes.gapY;
  const left = Math.min(...ids.map((id) => at(xs, id) - sizes.nodeWidth / 2), ...xs.values());
  const nodes = ids.map((id) => ({
    id,
    x: at(xs, id) - sizes.nodeWidth / 2 - left + MARGIN,
    y: at(layerOf, id) * stepY + MARGIN,
  }));
  const placed = turned.map(({ index, isTurned }, place) => {
    const chain = chains[place] ?? [];
    const points = chain.map((id, depth) => ({
      x: at(xs, id) - left + MARGIN,
      y: (at(layerOf, chain[0] ?? "") + depth) * stepY + sizes.nodeHeight / 2 + MARGIN,
    }));
    return { index, points: isTurned ? points.reverse() : points, isBackward: isTurned };
  });
  const right = Math.max(...nodes.map((each) => each.x + sizes.nodeWidth), ...pointsOf(placed).map((each) => each.x));
  const bottom = Math.max(...nodes.map((each) => each.y)) + sizes.nodeHeight;
  return { width: right + MARGIN, height: bottom + MARGIN, nodes, edges: placed };
}

/** @param {PlacedEdge[]} edges */
function pointsOf(edges) {
  return edges.flatMap((each) => each.points);
}

/**
 * Put a place into each layer that an edge passes.
 * @param {readonly string[]} ids
 * @param {ReadonlyMap<string, number>} layerOf
 * @param {readonly import("./layers.js").TurnedEdge[]} edges
 * @returns {{layers: string[][], chains: string[][]}} `chains`: the places of each edge
 */
function withPasses(ids, layerOf, edges) {
  /** @type {string[][]} */
  const layers = [];
  for (const id of ids) (layers[at(layerOf, id)] ??= []).push(id);
  const chains = edges.map(({ from, to, index }) => {
    const chain = [from];
    for (let layer = at(layerOf, from) + 1; layer < at(layerOf, to); layer += 1) {
      const id = `\0${index}:${layer}`; // no name of a node has this character
      (layers[layer] ??= []).push(id);
      chain.push(id);
    }
    chain.push(to);
    return chain;
  });
  return { layers, chains };
}

/**
 * Return the middle of each place: as near to its neighbours as the layer's order allows.
 * @param {string[][]} layers
 * @param {string[][]} chains
 * @param {ReadonlySet<string>} real
 * @param {Sizes} sizes
 */
function positions(layers, chains, real, sizes) {
  /** @type {Map<string, number>} */
  const xs = new Map();
  const above = neighbours(chains, -1);
  const below = neighbours(chains, 1);
  const widthOf = (/** @type {string} */ id) => (real.has(id) ? sizes.nodeWidth : PASS_WIDTH);
  for (const layer of layers) {
    let x = 0;
    for (const id of layer) {
      xs.set(id, x + widthOf(id) / 2);
      x += widthOf(id) + sizes.gapX;
    }
    for (const id of layer) xs.set(id, at(xs, id) - (x - sizes.gapX) / 2);
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    const isDown = round % 2 === 0;
    for (const layer of isDown ? layers : layers.toReversed()) {
      const wanted = layer.map((id) => {
        const found = (isDown ? above : below).get(id) ?? [];
        return found.length ? found.reduce((sum, each) => sum + at(xs, each), 0) / found.length : at(xs, id);
      });
      const gaps = layer.map((id, index) =>
        index === 0 ? 0 : (widthOf(id) + widthOf(layer[index - 1] ?? "")) / 2 + sizes.gapX,
      );
      spread(wanted, gaps).forEach((x, index) => xs.set(layer[index] ?? "", x));
    }
  }
  return new Map([...xs].map(([id, x]) => [id, Math.round(x)]));
}

/**
 * Return the places nearest to those that are wanted (least squares), with the gaps between them.
 *
 * Without the gaps, this is isotonic regression: neighbours that would change their order become
 * one block, which stands at the mean of what its parts want.
 * @param {number[]} wanted
 * @param {number[]} gaps to the one before
 * @returns {number[]}
 */
export function spread(wanted, gaps) {
  let sum = 0;
  const offsets = gaps.map((each) => (sum += each));
  /** @type {{sum: number, count: number}[]} */
  const blocks = [];
  wanted.forEach((want, index) => {
    let block = { sum: want - (offsets[index] ?? 0), count: 1 };
    for (let before = blocks.at(-1); before !== undefined; before = blocks.at(-1)) {
      if (before.sum / before.count <= block.sum / block.count) break;
      blocks.pop();
      block = { sum: before.sum + block.sum, count: before.count + block.count };
    }
    blocks.push(block);
  });
  const means = blocks.flatMap(({ sum: total, count }) => new Array(count).fill(total / count));
  return offsets.map((offset, index) => means[index] + offset);
}

/**
 * @param {ReadonlyMap<string, number>} map
 * @param {string} id
 */
function at(map, id) {
  return map.get(id) ?? 0;
}
