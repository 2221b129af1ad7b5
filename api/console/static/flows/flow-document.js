// @ts-check
// <flow-document label="…" check-id="…" .text=${text}>: a flow or a tree as JSON, beside its graph.
//
// What is typed is checked by the REST API, as it would be when it is stored. Reports `change`
// ({value}); `errors` and `isChecked` say what is known of the text.

import { html, nothing } from "../vendored/lit.js";
import { nodeAt, parsePath } from "../editor/json-place.js";
import { scan } from "../editor/json-scan.js";
import { ConsoleElement } from "../lib/console-element.js";
import { parse } from "../lib/json.js";
import { RestError, get } from "../lib/rest.js";
import { checkFlow } from "./flow-rest.js";
import { isExit } from "./graph.js";
import "../editor/json-editor.js";
import "../components/problem.js";
import "./flow-graph.js";

/**
 * @typedef {import("../lib/rest.js").FieldError} FieldError
 * @typedef {import("../editor/json-editor.js").JsonEditor} JsonEditor
 */

const PAUSE_MS = 400; // after the last key, before the text is checked
const RETRY_MS = 3_000; // after a check that was not possible
const PASSING = new Set([0, 429, 503]); // others stay as they are for this text
const SHOWN = 8; // errors in the list below the text

export class FlowDocument extends ConsoleElement {
  static properties = {
    label: {},
    checkId: { attribute: "check-id" },
    text: { attribute: false },
    readonly: { type: Boolean },
    schema: { state: true },
    parsed: { state: true },
    errors: { state: true },
    selected: { state: true },
    isChecked: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    this.label = "Flow";
    this.checkId = "check";
    this.text = "";
    this.readonly = false;
    /** @type {Record<string, any> | null} */
    this.schema = null;
    /** @type {Record<string, Record<string, any>>} */
    this.schemas = {};
    /** @type {unknown} */
    this.parsed = null;
    /** @type {FieldError[]} */
    this.errors = [];
    this.selected = "";
    this.isChecked = false;
    /** @type {unknown} */
    this.problem = null;
    this.timer = 0;
    this.checking = new AbortController();
  }

  connectedCallback() {
    super.connectedCallback();
    void this.loadSchemas();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.clearTimeout(this.timer);
    this.checking.abort();
  }

  async loadSchemas() {
    try {
      const [flow, tree] = await Promise.all(["flow", "action"].map((each) => get(`/docs/schemas/${each}.json`)));
      this.schemas = { flow, tree };
      this.schema = this.schemaOf();
    } catch {
      // without completion, the text can be edited all the same
    }
  }

  /** Return the schema of what the text looks like. */
  schemaOf() {
    const { root } = scan(this.text);
    const isTree = nodeAt(root, ["type"]) !== null && nodeAt(root, ["nodes"]) === null;
    return this.schemas[isTree ? "tree" : "flow"] ?? null;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (!changed.has("text")) return;
    const { faults } = scan(this.text);
    this.isChecked = false; // the errors stay until others are known
    this.schema = this.schemaOf();
    window.clearTimeout(this.timer);
    this.checking.abort();
    if (faults.length) return; // the graph stays as it was
    if (this.parsed === null) this.parsed = parse(this.text);
    this.timer = window.setTimeout(() => {
      this.parsed = parse(this.text);
      void this.check();
    }, PAUSE_MS);
  }

  async check() {
    const { text } = this;
    const { signal } = (this.checking = new AbortController());
    try {
      this.errors = await checkFlow(this.checkId, text, signal);
      this.isChecked = true;
      this.problem = null;
      this.dispatchEvent(new CustomEvent("checked", { detail: { errors: this.errors } }));
    } catch (error) {
      if (signal.aborted) return;
      this.problem = error;
      const isBrief = error instanceof RestError && PASSING.has(error.status);
      if (isBrief) this.timer = window.setTimeout(() => void this.check(), RETRY_MS);
    }
  }

  render() {
    return html`
      <div class="workbench">
        <div>
          <json-editor
            label=${this.label}
            ?readonly=${this.readonly}
            .value=${this.text}
            .schema=${this.schema}
            .errors=${this.errors}
            .namesOf=${namesOf}
            @change=${this.onChange}
            @cursor=${(/** @type {CustomEvent} */ event) => (this.selected = event.detail.path)}
          ></json-editor>
          ${this.renderState()}
        </div>
        <flow-graph
          .document=${this.parsed}
          .errors=${this.errors}
          .selected=${this.selected}
          @choose=${(/** @type {CustomEvent} */ event) => this.goTo(event.detail.path)}
        ></flow-graph>
      </div>
    `;
  }

  renderState() {
    const { faults } = scan(this.text);
    const [fault] = faults;
    if (fault !== undefined) {
      const line = this.text.slice(0, fault.from).split("\n").length;
      return html`<p class="check bad" role="status">Line ${line}: ${fault.message}</p>`;
    }
    if (this.problem !== null) return html`<console-problem .error=${this.problem}></console-problem>`;
    if (this.errors.length === 0) {
      return this.isChecked
        ? html`<p class="check good" role="status">No errors.</p>`
        : html`<p class="check quiet" role="status">Checking…</p>`;
    }
    const more = this.errors.length - SHOWN;
    return html`
      <div class="check" role="status">
        <span class="bad">${this.errors.length === 1 ? "1 error" : `${this.errors.length} errors`}</span>
        <ul>
          ${this.errors.slice(0, SHOWN).map(
            (each) => html`<li>
              <button class="link" @click=${() => this.goTo(each.path)}><code>${each.path || "document"}</code></button>:
              ${each.message}
              <a href="/docs/errors/${each.code}" target="_blank" rel="noopener">${each.code}</a>
            </li>`,
          )}
          ${more > 0 ? html`<li>and ${more} more</li>` : nothing}
        </ul>
      </div>
    `;
  }

  /** @param {CustomEvent} event */
  onChange(event) {
    this.text = event.detail.value;
    this.dispatchEvent(new CustomEvent("change", { detail: { value: this.text } }));
  }

  /** @param {string} path */
  goTo(path) {
    const editor = /** @type {JsonEditor | null} */ (this.querySelector("json-editor"));
    editor?.goTo(path);
  }
}

/**
 * Return the nodes of a flow, where one of them is named.
 * @param {import("../editor/json-place.js").Path} path
 * @param {import("../editor/json-scan.js").JsonNode | null} root
 */
function namesOf(path, root) {
  if (!isExit(path)) return [];
  const nodes = nodeAt(root, parsePath("nodes"))?.members ?? [];
  return nodes.map((each) => ({
    name: each.key,
    detail: String(nodeAt(each.value, ["type"])?.value ?? ""),
  }));
}

customElements.define("flow-document", FlowDocument);
