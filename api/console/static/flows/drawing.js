// @ts-check
// From a layout to what SVG draws: paths of edges, places of labels, texts that fit.

/**
 * @typedef {import("./layout.js").Point} Point
 * @typedef {import("./layout.js").PlacedNode} PlacedNode
 * @typedef {import("./layout.js").Sizes} Sizes
 * @typedef {{path: string, label: Point}} Curve
 */

const BACK_SHIFT = 48; // so that an edge back is not on the edge there
const ARROW = 7;
const LABEL_AT = 0.62; // of the first part of an edge: where edges from one node are apart
const CHAR_WIDTH = 7.4;
const LOOP = 20;

/**
 * Return the curve of an edge, from the border of its node to that of the next.
 * @param {Point[]} points
 * @param {boolean} isBackward
 * @param {Sizes} sizes
 * @returns {Curve}
 */
export function curve(points, isBackward, sizes) {
  const half = sizes.nodeHeight / 2;
  const shift = isBackward ? BACK_SHIFT : 0;
  const sign = isBackward ? -1 : 1;
  const ends = points.map((point, index) => {
    if (index === 0) return { x: point.x + shift, y: point.y + sign * half };
    const isLast = index === points.length - 1;
    return isLast ? { x: point.x + shift, y: point.y - sign * (half + ARROW) } : point;
  });
  const [first, second] = ends;
  if (first === undefined || second === undefined) return { path: "", label: { x: 0, y: 0 } };
  let path = `M${first.x} ${first.y}`;
  ends.slice(1).forEach((to, index) => {
    const from = ends[index] ?? first;
    const middle = (from.y + to.y) / 2;
    path += `C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`;
  });
  return { path, label: along(first, second) };
}

/**
 * Return the curve of an edge from a node to itself, at its right side.
 * @param {PlacedNode} node
 * @param {Sizes} sizes
 * @returns {Curve}
 */
export function loop(node, sizes) {
  const x = node.x + sizes.nodeWidth;
  const y = node.y + sizes.nodeHeight / 2;
  const path = `M${x} ${y - 12}C${x + LOOP} ${y - 16} ${x + LOOP} ${y + 16} ${x + ARROW} ${y + 12}`;
  return { path, label: { x: x + LOOP, y: y - 16 } };
}

/**
 * @param {Point} from
 * @param {Point} to
 * @returns {Point}
 */
function along(from, to) {
  const t = LABEL_AT;
  const eased = t * t * (3 - 2 * t);
  return { x: from.x + (to.x - from.x) * eased, y: from.y + (to.y - from.y) * t };
}

/**
 * Shorten a text to a width.
 * @param {string} text
 * @param {number} width in pixels
 */
export function fitText(text, width) {
  const most = Math.floor(width / CHAR_WIDTH);
  const chars = [...text.replace(/\s+/g, " ")];
  return chars.length <= most ? chars.join("") : `${chars.slice(0, most - 1).join("").trimEnd()}…`;
}

/**
 * Return the node that an arrow key leads to: the nearest one in that direction.
 * @param {PlacedNode[]} nodes
 * @param {string} from
 * @param {string} key
 * @returns {string | null}
 */
export function neighbourOf(nodes, from, key) {
  const origin = nodes.find((each) => each.id === from);
  if (origin === undefined) return nodes[0]?.id ?? null;
  const isVertical = key === "ArrowDown" || key === "ArrowUp";
  const sign = key === "ArrowDown" || key === "ArrowRight" ? 1 : -1;
  let found = null;
  let nearest = Infinity;
  for (const each of nodes) {
    const [ahead, aside] = isVertical
      ? [each.y - origin.y, each.x - origin.x]
      : [each.x - origin.x, each.y - origin.y];
    if (ahead * sign <= 0) continue;
    const distance = ahead * sign + Math.abs(aside) * (isVertical ? 1 : 20);
    if (distance < nearest) {
      nearest = distance;
      found = each.id;
    }
  }
  return found;
}
