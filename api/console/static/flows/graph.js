// @ts-check
// The graph of a flow or a tree: its nodes, and which leads to which.
//
// The document may be half written: whatever is not as it should be is left out, and an edge to a
// node that is not there leads to one that is marked as missing.

/**
 * @typedef {{id: string, type: string, text: string, path: string, isMissing: boolean}} GraphNode
 * @typedef {{from: string, to: string, labels: string[]}} GraphEdge
 * @typedef {{start: string, nodes: GraphNode[], edges: GraphEdge[]}} Graph
 * @typedef {{label: string, to: string}} Exit
 */

const MAX_NODES = 500; // an editor's text may be anything
/** @type {Record<string, string>} */
const EXITS = {
  next: "",
  success: "success",
  failure: "failure",
  else: "else",
  noInput: "no input",
  invalid: "invalid",
  node: "go to",
  onError: "on error",
};
/** @type {Record<string, string>} */
const INNER = { action: "", onError: "on error", "data.fallback": "fallback" };

/**
 * Return the graph of a document.
 * @param {unknown} document
 * @returns {Graph}
 */
export function graphOf(document) {
  if (isObject(document) && isObject(document.nodes)) return graphOfFlow(document, document.nodes);
  return graphOfTree(document);
}

/**
 * @param {Record<string, unknown>} flow
 * @param {Record<string, unknown>} given
 * @returns {Graph}
 */
function graphOfFlow(flow, given) {
  /** @type {Map<string, GraphNode>} */
  const nodes = new Map();
  /** @type {GraphEdge[]} */
  const edges = [];
  for (const [id, node] of Object.entries(given).slice(0, MAX_NODES)) {
    const type = isObject(node) ? textOf(node.type) : "";
    nodes.set(id, { id, type, text: summary(node), path: `nodes.${id}`, isMissing: false });
  }
  for (const [id, node] of Object.entries(given).slice(0, MAX_NODES)) {
    for (const { label, to } of exitsOf(node)) {
      if (!nodes.has(to)) nodes.set(to, missing(to));
      connect(edges, id, to, label);
    }
  }
  const start = textOf(flow.start);
  if (start !== "" && !nodes.has(start)) nodes.set(start, missing(start));
  return { start, nodes: [...nodes.values()], edges };
}

/**
 * Return the exits of a node of a flow.
 * @param {unknown} node
 * @returns {Exit[]}
 */
export function exitsOf(node) {
  if (!isObject(node)) return [];
  /** @type {Exit[]} */
  const found = [];
  if (isObject(node.branches)) {
    for (const [digits, to] of Object.entries(node.branches)) found.push({ label: digits, to: textOf(to) });
  }
  for (const each of Array.isArray(node.cases) ? node.cases : []) {
    if (isObject(each)) found.push({ label: caseText(each), to: textOf(each.next) });
  }
  for (const [field, label] of Object.entries(EXITS)) {
    if (Object.hasOwn(node, field)) found.push({ label, to: textOf(node[field]) });
  }
  return found.filter((each) => each.to !== "");
}

/**
 * Return whether a path of a flow names a node.
 * @param {(string | number)[]} path
 */
export function isExit(path) {
  const [first, , field, , last] = path;
  if (path.length === 1) return first === "start";
  if (first !== "nodes") return false;
  if (path.length === 3) return Object.hasOwn(EXITS, String(field));
  if (path.length === 4) return field === "branches";
  return path.length === 5 && field === "cases" && last === "next";
}

/**
 * Return the id of the node that a path leads into.
 * @param {Graph} graph
 * @param {string} path
 * @returns {string | undefined}
 */
export function ownerOf(graph, path) {
  let found;
  for (const each of graph.nodes) {
    const rest = path.slice(each.path.length);
    const isWithin = each.path === "" || (path.startsWith(each.path) && /^(?:$|[.[])/.test(rest));
    if (isWithin && !each.isMissing && each.path.length >= (found?.path.length ?? 0)) found = each;
  }
  return found?.id;
}

/**
 * @param {unknown} root
 * @returns {Graph}
 */
function graphOfTree(root) {
  /** @type {GraphNode[]} */
  const nodes = [];
  /** @type {GraphEdge[]} */
  const edges = [];
  /** @type {{value: unknown, path: string, from: string, label: string}[]} */
  const pending = [{ value: root, path: "", from: "", label: "" }];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const { value, path, from, label } = next;
    const isAddress = typeof value === "string" && value !== "";
    if ((!isObject(value) && !isAddress) || nodes.length >= MAX_NODES) continue;
    const id = path || "root";
    const type = isObject(value) ? textOf(value.type) : "webhook";
    nodes.push({ id, type, text: summary(value), path, isMissing: false });
    if (from) connect(edges, from, id, label);
    if (!isObject(value)) continue;
    for (const [field, inner] of Object.entries(INNER)) {
      const holder = field.startsWith("data.") ? value.data : value;
      const name = field.replace("data.", "");
      if (isObject(holder) && Object.hasOwn(holder, name)) {
        pending.push({ value: holder[name], path: path ? `${path}.${field}` : field, from: id, label: inner });
      }
    }
  }
  return { start: "root", nodes, edges };
}

/**
 * Add an edge; several between the same nodes are one with several labels.
 * @param {GraphEdge[]} edges
 * @param {string} from
 * @param {string} to
 * @param {string} label
 */
function connect(edges, from, to, label) {
  const known = edges.find((each) => each.from === from && each.to === to);
  if (known === undefined) edges.push({ from, to, labels: label ? [label] : [] });
  else if (label) known.labels.push(label);
}

/**
 * @param {string} id
 * @returns {GraphNode}
 */
function missing(id) {
  return { id, type: "missing", text: "no such node", path: "", isMissing: true };
}

/**
 * Return what a node does, in a few words.
 * @param {unknown} node
 * @returns {string}
 */
function summary(node) {
  if (!isObject(node)) return textOf(node);
  const data = isObject(node.data) ? node.data : {};
  const { variables, cases } = node;
  if (isObject(variables)) return Object.keys(variables).join(", ");
  if (Array.isArray(cases)) return cases.filter(isObject).map(caseText).join("; ");
  if (node.type === "goto") return `${textOf(node.node)}, at most ${plain(node.limit ?? 10)} times`;
  const found = [data.text, data.audioUrl, data.url, data.number, data.flowId, data.requestId, data.reason].map(plain);
  if (data.length !== undefined && node.type === "pause") return `${plain(data.length)} s`;
  return found.find((each) => each !== "") ?? "";
}

/** @param {Record<string, unknown>} given */
function caseText(given) {
  const operator = textOf(given.operator);
  const sign = operator === "" || operator === "eq" ? "=" : operator;
  return `${textOf(given.variable)} ${sign} ${plain(given.value)}`.trim();
}

/** @param {unknown} value */
function plain(value) {
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  return typeof value === "object" || value === undefined ? "" : String(value);
}

/** @param {unknown} value */
function textOf(value) {
  return typeof value === "string" ? value : "";
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
