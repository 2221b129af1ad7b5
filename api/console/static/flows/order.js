// @ts-check
// The order of each layer: nodes stand near the nodes that they are connected with, so that few
// edges cross.

const SWEEPS = 12;

/**
 * Return the layers in the best order that a few sweeps find.
 * @param {string[][]} layers
 * @param {string[][]} chains the places of each edge, one in each layer
 * @returns {string[][]}
 */
export function orderLayers(layers, chains) {
  const above = neighbours(chains, -1);
  const below = neighbours(chains, 1);
  let best = layers;
  let fewest = countCrossings(layers, below);
  let current = layers;
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep += 1) {
    current = sweep % 2 === 0 ? sorted(current, above) : sorted(current.toReversed(), below).toReversed();
    const crossings = countCrossings(current, below);
    if (crossings < fewest) {
      best = current;
      fewest = crossings;
    }
  }
  return best;
}

/**
 * Sort each layer by the mean place of its neighbours in the layer before.
 * @param {string[][]} layers
 * @param {ReadonlyMap<string, string[]>} neighboursOf
 */
function sorted(layers, neighboursOf) {
  /** @type {Map<string, number>} */
  let places = new Map();
  return layers.map((layer) => {
    const weights = new Map(
      layer.map((id, index) => {
        const found = (neighboursOf.get(id) ?? []).map((each) => places.get(each) ?? 0);
        return [id, found.length ? found.reduce((sum, each) => sum + each, 0) / found.length : index];
      }),
    );
    const ordered = layer.toSorted((a, b) => (weights.get(a) ?? 0) - (weights.get(b) ?? 0));
    places = new Map(ordered.map((id, index) => [id, index]));
    return ordered;
  });
}

/**
 * Return how many pairs of edges cross between neighbouring layers.
 * @param {string[][]} layers
 * @param {ReadonlyMap<string, string[]>} below
 */
export function countCrossings(layers, below) {
  let count = 0;
  layers.forEach((layer, index) => {
    const places = new Map((layers[index + 1] ?? []).map((id, place) => [id, place]));
    const ends = layer.flatMap((id) =>
      (below.get(id) ?? []).map((each) => places.get(each) ?? 0).sort((a, b) => a - b),
    );
    count += countInversions(ends);
  });
  return count;
}

/**
 * Return the neighbours of each place in the layer above (-1) or below (1).
 * @param {string[][]} chains
 * @param {-1 | 1} direction
 */
export function neighbours(chains, direction) {
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const chain of chains) {
    chain.forEach((id, index) => {
      const next = chain[index + direction];
      if (next === undefined || next === id) return;
      const known = found.get(id);
      if (known === undefined) found.set(id, [next]);
      else known.push(next);
    });
  }
  return found;
}

/**
 * Return how many pairs are out of order, by a binary indexed tree (Fenwick 1994).
 * @param {number[]} values of 0 and above
 */
function countInversions(values) {
  const tree = new Uint32Array(values.reduce((most, each) => Math.max(most, each), 0) + 2);
  let count = 0;
  values.forEach((value, index) => {
    let before = 0; // values up to this one
    for (let at = value + 1; at > 0; at -= at & -at) before += tree[at] ?? 0;
    count += index - before;
    for (let at = value + 1; at < tree.length; at += at & -at) tree[at] = (tree[at] ?? 0) + 1;
  });
  return count;
}
