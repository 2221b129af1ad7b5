// @ts-check
// <flow-graph .document=${flow} .errors=${errors}>: a flow or a tree as a graph.
//
// It reports `choose` ({path}) when somebody selects a node. Arrow keys go from node to node; the
// picture scrolls in both directions, by hand or by the keyboard, and is zoomed by + and -.

import { html, nothing, svg } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { stringify } from "../lib/json.js";
import { curve, fitText, loop, neighbourOf } from "./drawing.js";
import { graphOf, ownerOf } from "./graph.js";
import { SIZES, layOut } from "./layout.js";

/**
 * @typedef {import("../lib/rest.js").FieldError} FieldError
 * @typedef {import("./graph.js").Graph} Graph
 * @typedef {import("./layout.js").Layout} Layout
 */

const ZOOM = 1.25;
const LEAST = 0.3;
const MOST = 2.5;
const READABLE = 0.65; // the least scale that is set without somebody's wish
const LABEL_WIDTH = 110;
const ARROWS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]);
/** @type {Record<string, (scale: number) => number>} */
const KEYS = { "+": (scale) => scale * ZOOM, "=": (scale) => scale * ZOOM, "-": (scale) => scale / ZOOM, 0: () => 1 };

export class FlowGraph extends ConsoleElement {
  static properties = {
    document: { attribute: false },
    errors: { attribute: false },
    selected: { attribute: false },
    focused: { state: true },
    scale: { state: true },
  };

  constructor() {
    super();
    /** @type {unknown} */
    this.document = null;
    /** @type {FieldError[]} */
    this.errors = [];
    /** Path of what is selected in the text. */
    this.selected = "";
    this.focused = "";
    this.scale = 1;
    /** @type {Graph} */
    this.graph = { start: "", nodes: [], edges: [] };
    /** @type {Layout} */
    this.layout = { width: 0, height: 0, nodes: [], edges: [] };
    /** @type {{x: number, y: number} | null} */
    this.grip = null;
    this.isZoomed = false;
    this.shape = "";
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has("document")) return;
    this.graph = graphOf(this.document);
    const { start, nodes, edges } = this.graph;
    const shape = stringify([start, nodes.map((each) => each.id), edges]);
    if (shape !== this.shape) this.layout = layOut(start, nodes, edges); // not for other texts
    this.shape = shape;
    if (!this.graph.nodes.some((each) => each.id === this.focused)) this.focused = this.graph.start;
  }

  render() {
    const { graph, scale } = this;
    const { width, height } = this.layout;
    const count = graph.nodes.length;
    return html`
      <div
        class="graph-view"
        tabindex="0"
        role="region"
        aria-label="Graph of the flow"
        @keydown=${this.onKey}
        @pointerdown=${this.onGrip}
        @pointermove=${this.onDrag}
        @pointerup=${this.onRelease}
        @pointercancel=${this.onRelease}
      >
        ${count
          ? html`<svg
              class="graph"
              role="group"
              aria-label="Nodes"
              width=${Math.round(width * scale)}
              height=${Math.round(height * scale)}
              viewBox="0 0 ${width} ${height}"
            >
              <defs>
                <marker id="flow-arrow" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto">
                  <path d="M0 0L8 4L0 8z" />
                </marker>
              </defs>
              ${this.renderEdges()}
              ${this.layout.nodes.map((each, index) => this.renderNode(each, graph.nodes[index]))}
            </svg>`
          : html`<p class="empty">There is no node yet.</p>`}
      </div>
      <div class="row middle spread graph-head">
        <span class="quiet">${count === 1 ? "1 node" : `${count} nodes`}</span>
        <span class="row middle">
          <button aria-label="Zoom out" @click=${() => this.zoom(scale / ZOOM)}>−</button>
          <button @click=${() => this.zoom(this.fitting())}>Fit</button>
          <button aria-label="Zoom in" @click=${() => this.zoom(scale * ZOOM)}>+</button>
        </span>
      </div>
    `;
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (this.isZoomed || !changed.has("document") || this.layout.width === 0) return;
    const view = this.querySelector(".graph-view");
    if (view !== null) this.scale = Math.min(1, Math.max(READABLE, view.clientWidth / this.layout.width));
  }

  /** Return the edges as they are drawn: their curves first, so that none crosses a label. */
  renderEdges() {
    const drawn = this.layout.edges.map(({ index, points, isBackward }) => ({
      edge: this.graph.edges[index],
      drawing: curve(points, isBackward, SIZES),
      isBackward,
    }));
    for (const edge of this.graph.edges.filter((each) => each.from === each.to)) {
      const node = this.layout.nodes.find((each) => each.id === edge.from);
      if (node !== undefined) drawn.push({ edge, drawing: loop(node, SIZES), isBackward: true });
    }
    /** @param {import("./graph.js").GraphEdge | undefined} edge */
    const near = (edge) => (edge?.from === this.focused || edge?.to === this.focused ? "near" : "");
    return svg`
      ${drawn.map(
        ({ edge, drawing, isBackward }) => svg`<path
          class="edge ${near(edge)} ${isBackward ? "back" : ""}"
          d=${drawing.path}
          marker-end="url(#flow-arrow)"
        />`,
      )}
      ${drawn.map(({ edge, drawing }) => {
        const text = edge?.labels.join(", ") ?? "";
        if (text === "") return nothing;
        const { x, y } = drawing.label;
        return svg`<text class="edge-label ${near(edge)}" x=${x} y=${y} text-anchor="middle">
          <title>${text}</title>${fitText(text, LABEL_WIDTH)}
        </text>`;
      })}
    `;
  }

  /**
   * @param {import("./layout.js").PlacedNode} place
   * @param {import("./graph.js").GraphNode | undefined} node
   */
  renderNode({ id, x, y }, node) {
    if (node === undefined) return nothing;
    const { nodeWidth: width, nodeHeight: height } = SIZES;
    const errors = node.isMissing ? [] : this.errorsOf(id);
    const isBad = node.isMissing || errors.length > 0;
    const isStart = id === this.graph.start;
    const isSelected = ownerOf(this.graph, this.selected) === id;
    const more = [
      node.isMissing ? "This node does not exist" : "",
      isStart ? "The start" : "",
      errors.map((each) => each.message).join("; "),
      exitText(this.graph, id),
    ];
    const text = errors[0]?.message ?? node.text;
    return svg`
      <g
        class="node kind-${kindOf(node.type)} ${isBad ? "bad" : ""} ${isSelected ? "selected" : ""}"
        role="button"
        tabindex=${id === this.focused ? "0" : "-1"}
        aria-description=${more.filter(Boolean).join(". ")}
        data-node=${id}
        transform="translate(${x} ${y})"
        @click=${() => this.choose(node)}
        @focus=${() => (this.focused = id)}
      >
        <rect class="box" width=${width} height=${height} rx="7" />
        <rect class="kind" width="6" height=${height} rx="3" />
        <text class="name" x="16" y="23">${isStart ? "▶ " : ""}${fitText(id, width - 30 - 7 * node.type.length)}</text>
        <text class="type" x=${width - 10} y="22" text-anchor="end">${isBad ? "⚠ " : ""}${node.type}</text>
        ${text ? svg`<text class="text" x="16" y="43"><title>${text}</title>${fitText(text, width - 24)}</text>` : nothing}
      </g>
    `;
  }

  /** @param {string} id */
  errorsOf(id) {
    return this.errors.filter((each) => ownerOf(this.graph, each.path) === id);
  }

  /** @param {import("./graph.js").GraphNode} node */
  choose(node) {
    this.focused = node.id;
    if (!node.isMissing) this.dispatchEvent(new CustomEvent("choose", { detail: { path: node.path } }));
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const target = /** @type {Element} */ (event.target);
    const id = target.getAttribute("data-node");
    const zoom = KEYS[event.key];
    if (zoom !== undefined && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.zoom(zoom(this.scale));
    } else if (id !== null && ARROWS.has(event.key)) {
      event.preventDefault();
      const next = neighbourOf(this.layout.nodes, id, event.key);
      if (next !== null) this.focusNode(next);
    } else if (id !== null && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      const node = this.graph.nodes.find((each) => each.id === id);
      if (node !== undefined) this.choose(node);
    }
  }

  /** @param {string} id */
  focusNode(id) {
    const found = [...this.querySelectorAll("[data-node]")].find((each) => each.getAttribute("data-node") === id);
    if (found instanceof SVGElement) {
      found.focus();
      found.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }

  /** @param {number} scale */
  zoom(scale) {
    this.isZoomed = true;
    this.scale = Math.min(MOST, Math.max(LEAST, scale));
  }

  fitting() {
    const view = this.querySelector(".graph-view");
    if (view === null || this.layout.width === 0) return 1;
    return Math.min(1, view.clientWidth / this.layout.width, view.clientHeight / this.layout.height);
  }

  /** @param {PointerEvent} event */
  onGrip(event) {
    if (event.pointerType === "touch" || event.button !== 0) return; // fingers scroll by themselves
    if (/** @type {Element} */ (event.target).closest("[data-node]")) return;
    this.grip = { x: event.clientX, y: event.clientY };
    /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  onDrag(event) {
    if (this.grip === null) return;
    const view = /** @type {Element} */ (event.currentTarget);
    view.scrollBy(this.grip.x - event.clientX, this.grip.y - event.clientY);
    this.grip = { x: event.clientX, y: event.clientY };
  }

  onRelease() {
    this.grip = null;
  }
}

/**
 * @param {Graph} graph
 * @param {string} id
 */
function exitText(graph, id) {
  const found = graph.edges.filter((each) => each.from === id);
  if (found.length === 0) return "ends here";
  return `leads to ${found.map(({ to, labels }) => (labels.length ? `${to} (${labels.join(", ")})` : to)).join(", ")}`;
}

/** @param {string} type */
function kindOf(type) {
  if (type === "missing") return "missing";
  if (["menu", "gather", "record"].includes(type)) return "input";
  if (["condition", "set", "goto"].includes(type)) return "logic";
  if (["request", "webhook", "flow"].includes(type)) return "outside";
  return type === "dial" ? "party" : "voice";
}

customElements.define("flow-graph", FlowGraph);
