// @ts-check
// Places in a document: from the path of an error to its text, and from the cursor to a path.

/**
 * @typedef {import("./json-scan.js").JsonNode} JsonNode
 * @typedef {import("./json-scan.js").Member} Member
 * @typedef {(string | number)[]} Path
 * @typedef {{from: number, to: number}} Range
 * @typedef {{
 *   path: Path,
 *   isKey: boolean,
 *   from: number,
 *   to: number,
 *   object: JsonNode | null,
 *   hasColon: boolean,
 * }} Place what a cursor is in: a name, or a value; `object` is the object around it
 */

const STEP = /\[(\d+)\]|([^.[\]]+)/g;

/**
 * Return the steps of a path such as `nodes.menu.cases[0].next`.
 * @param {string} path
 * @returns {Path}
 */
export function parsePath(path) {
  return [...path.matchAll(STEP)].map((found) =>
    found[1] === undefined ? String(found[2]) : Number(found[1]),
  );
}

/**
 * Return a path as errors have it.
 * @param {Path} path
 */
export function formatPath(path) {
  return path.reduce(
    /** @param {string} text @param {string | number} step */
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : text ? `${text}.${step}` : step),
    "",
  );
}

/**
 * Return the member of a name; JSON.parse takes the last of several, too.
 * @param {JsonNode | null} node
 * @param {string} key
 */
export function memberOf(node, key) {
  return node?.members.findLast((each) => each.key === key);
}

/**
 * Return the value at a path; null if there is none.
 * @param {JsonNode | null} root
 * @param {Path} path
 * @returns {JsonNode | null}
 */
export function nodeAt(root, path) {
  let node = root;
  for (const step of path) {
    node = (typeof step === "number" ? node?.items[step] : memberOf(node, step)?.value) ?? null;
  }
  return node;
}

/**
 * Return where an error is shown: the value at its path, or else the name or the first bracket of
 * the nearest thing around it that is there.
 * @param {JsonNode | null} root
 * @param {Path} path
 * @returns {Range}
 */
export function rangeOf(root, path) {
  let node = root;
  let range = node === null ? { from: 0, to: 0 } : headOf(node);
  for (const step of path) {
    const member = typeof step === "string" ? memberOf(node, step) : undefined;
    const next = (typeof step === "number" ? node?.items[step] : member?.value) ?? null;
    if (next === null && member === undefined) return range;
    node = next;
    const isBranch = node === null || node.type === "object" || node.type === "array";
    if (member !== undefined && isBranch) range = { from: member.keyFrom, to: member.keyTo };
    else if (node !== null) range = headOf(node);
  }
  return range;
}

/**
 * @param {JsonNode} node
 * @returns {Range}
 */
function headOf(node) {
  const isBranch = node.type === "object" || node.type === "array";
  return { from: node.from, to: isBranch ? node.from + 1 : node.to };
}

/**
 * Return what is at a place of the text.
 * @param {JsonNode | null} root
 * @param {number} at
 * @returns {Place}
 */
export function placeAt(root, at) {
  /** @type {Path} */
  const path = [];
  let node = root;
  if (root === null || at < root.from || at > root.to) {
    return { path, isKey: false, from: at, to: at, object: null, hasColon: false };
  }
  while (node !== null) {
    const step = node.type === "object" ? inObject(node, at, path) : inArray(node, at, path);
    if (!("next" in step)) return step;
    node = step.next;
  }
  throw new Error("unreachable");
}

/**
 * @param {JsonNode} object
 * @param {number} at
 * @param {Path} path
 * @returns {Place | {next: JsonNode}}
 */
function inObject(object, at, path) {
  if (!isInside(object, at)) return whole(object, path);
  const member = object.members.findLast((each) => each.keyFrom <= at);
  if (member === undefined) return newName(object, at, path);
  const { key, keyFrom, keyTo, value } = member;
  if (at <= keyTo) {
    path.push(key);
    return { path, isKey: true, from: keyFrom, to: keyTo, object, hasColon: value !== null };
  }
  if (at > (value?.to ?? member.to)) return newName(object, at, path);
  path.push(key);
  if (value === null || at < value.from) return { path, isKey: false, from: at, to: at, object, hasColon: true };
  if (value.type === "object" || value.type === "array") return { next: value };
  return { path, isKey: false, from: value.from, to: value.to, object, hasColon: true };
}

/**
 * @param {JsonNode} object
 * @param {number} at
 * @param {Path} path
 * @returns {Place}
 */
function newName(object, at, path) {
  return { path: [...path, ""], isKey: true, from: at, to: at, object, hasColon: false };
}

/**
 * @param {JsonNode} array
 * @param {number} at
 * @param {Path} path
 * @returns {Place | {next: JsonNode}}
 */
function inArray(array, at, path) {
  if (array.type !== "array" || !isInside(array, at)) return whole(array, path);
  const index = array.items.findLastIndex((each) => each.from <= at);
  const item = array.items[index];
  if (item === undefined || at > item.to) {
    path.push(index + 1);
    return { path, isKey: false, from: at, to: at, object: null, hasColon: false };
  }
  path.push(index);
  if (item.type === "object" || item.type === "array") return { next: item };
  return { path, isKey: false, from: item.from, to: item.to, object: null, hasColon: false };
}

/**
 * @param {JsonNode} node
 * @param {number} at
 */
function isInside(node, at) {
  return at > node.from && (at < node.to || !node.isClosed);
}

/**
 * @param {JsonNode} node
 * @param {Path} path
 * @returns {Place}
 */
function whole(node, path) {
  return { path, isKey: false, from: node.from, to: node.to, object: null, hasColon: false };
}
