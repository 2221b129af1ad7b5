// @ts-check
// <json-editor label="…" .value=${text} .schema=${schema}>: an editor of JSON.
//
// It reports `change` ({value}) while somebody types and `cursor` ({path}), and marks errors of
// the syntax by itself, and those of `errors` at their paths.

import { LitElement, css, html } from "../vendored/lit.js";
import { formatPath, parsePath, placeAt, rangeOf } from "./json-place.js";
import { scan } from "./json-scan.js";
import { SchemaReader } from "./schema.js";

/**
 * @typedef {import("../lib/rest.js").FieldError} FieldError
 * @typedef {import("./completion.js").NamesOf} NamesOf
 */

const LEAVE_MS = 5_000; // after Escape, in which Tab leaves the editor

export class JsonEditor extends LitElement {
  static properties = {
    label: {},
    value: { attribute: false },
    schema: { attribute: false },
    errors: { attribute: false },
    readonly: { type: Boolean },
    isOpen: { state: true },
  };

  static styles = css`
    :host { display: grid; grid-template-rows: minmax(0, 1fr) auto; min-height: 12rem; }
    .editor { min-height: 0; border: 1px solid var(--line); border-radius: var(--radius); overflow: hidden; }
    p { margin: 0.3rem 0 0; color: var(--quiet); font-size: 0.875rem; }
  `;

  constructor() {
    super();
    this.label = "JSON";
    this.value = "";
    /** @type {Record<string, any> | null} */
    this.schema = null;
    /** @type {FieldError[]} */
    this.errors = [];
    this.readonly = false;
    this.isOpen = false;
    /** @type {NamesOf} */
    this.namesOf = () => [];
    /** @type {SchemaReader | null} */
    this.reader = null;
    /** @type {import("../vendored/codemirror.js").EditorView | null} */
    this.view = null;
    /** @type {typeof import("./code-mirror.js") | null} */
    this.library = null;
    /** Where to go once the editor is open. @type {string | null} */
    this.wanted = null;
  }

  render() {
    return html`
      <div class="editor" @keydown=${this.onKey}></div>
      <p>
        ${this.readonly
          ? "This text cannot be changed."
          : "Ctrl+Space completes, F8 goes to the next error. To leave with Tab, press Escape first."}
      </p>
    `;
  }

  async firstUpdated() {
    this.library = await import("./code-mirror.js");
    const parent = this.renderRoot.querySelector(".editor");
    if (!(parent instanceof HTMLElement) || !(this.renderRoot instanceof ShadowRoot)) return;
    this.view = this.library.openEditor({
      root: this.renderRoot,
      parent,
      text: this.value,
      label: this.label,
      isReadOnly: this.readonly,
      schema: () => this.reader,
      namesOf: (path, root) => this.namesOf(path, root),
      onChange: (text) => this.change(text),
      onCursor: (at) => this.report("cursor", { path: formatPath(this.pathAt(at)) }),
    });
    this.isOpen = true; // which also shows what has been set meanwhile
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.view?.destroy();
    this.view = null;
  }

  /** @param {Map<string, unknown>} changed */
  updated(changed) {
    if (changed.has("schema")) this.reader = this.schema === null ? null : new SchemaReader(this.schema);
    const { view } = this;
    if (view === null) return;
    if (changed.has("value") || changed.has("isOpen")) this.replace(this.value);
    if (changed.has("value") || changed.has("errors") || changed.has("isOpen")) this.mark();
    if (this.wanted !== null) this.goTo(this.wanted);
  }

  /** @param {string} text */
  replace(text) {
    const { view } = this;
    const current = view?.state.doc.toString();
    if (view === null || current === text) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  }

  /** @param {string} text */
  change(text) {
    if (text === this.value) return; // the page has set it
    this.value = text;
    this.report("change", { value: text });
  }

  /** Show the errors of the syntax; without any, those that the server has found. */
  mark() {
    const { view, library } = this;
    if (view === null || library === null) return;
    const text = view.state.doc.toString();
    const { root, faults } = scan(text);
    const found = faults.length
      ? faults.slice(0, text.trim() === "" ? 0 : undefined) // nothing may be what is meant
      : this.errors.map((each) => ({ ...rangeOf(root, parsePath(each.path)), message: each.message }));
    const diagnostics = found.map(({ from, to, message }) => ({
      from: Math.min(from, text.length),
      to: Math.min(to, text.length),
      severity: /** @type {const} */ ("error"),
      message,
    }));
    diagnostics.sort((a, b) => a.from - b.from);
    view.dispatch(library.setDiagnostics(view.state, diagnostics));
  }

  /** @param {number} at */
  pathAt(at) {
    return placeAt(scan(this.value).root, at).path;
  }

  /**
   * Move the cursor to the value at a path.
   * @param {string} path
   */
  goTo(path) {
    const { view } = this;
    this.wanted = view === null ? path : null;
    if (view === null) return;
    const { from, to } = rangeOf(scan(this.value).root, parsePath(path));
    view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
    view.focus();
  }

  /**
   * Let Escape not close the dialog around, and the next Tab leave the editor.
   * @param {KeyboardEvent} event
   */
  onKey(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    this.view?.setTabFocusMode(LEAVE_MS);
  }

  /**
   * @param {string} type
   * @param {Record<string, string>} detail
   */
  report(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

customElements.define("json-editor", JsonEditor);
