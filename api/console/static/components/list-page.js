// @ts-check
// The base of pages with a list: its filters, and the dialogs in which people change its rows.

import { html } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import "./confirm-dialog.js";
import "./data-table.js";
import "./detail-dialog.js";
import "./filter-form.js";
import "./form-dialog.js";

/**
 * @typedef {import("../forms/values.js").Values} Values
 * @typedef {Object} Form
 * @property {string} heading
 * @property {string} submit
 * @property {unknown} [note]
 * @property {import("../forms/values.js").Field[]} fields
 * @property {(values: Values) => Promise<any>} save
 * @property {(() => Promise<Values>) | null} [reload]
 */

/** @type {Form} */
const NO_FORM = { heading: "", submit: "", fields: [], save: async () => null };

export class ListPage extends ConsoleElement {
  /** @type {import("../vendored/lit.js").PropertyDeclarations} */
  static properties = {
    form: { state: true },
    done: { state: true },
    filters: { state: true },
    listError: { state: true },
  };

  constructor() {
    super();
    this.form = NO_FORM;
    /** What was done last. */
    this.done = "";
    /** null: the filters have not been read yet. @type {Record<string, any> | null} */
    this.filters = null;
    /** @type {unknown} */
    this.listError = null;
  }

  /**
   * Render the filters of the list.
   * @param {import("./filter-form.js").FilterField[]} fields
   */
  renderFilters(fields) {
    return html`<filter-form
      .fields=${fields}
      .error=${this.listError}
      @filter=${(/** @type {CustomEvent} */ event) => this.filter(event.detail)}
    ></filter-form>`;
  }

  /**
   * Show what matches.
   * @param {Record<string, any>} filters
   */
  filter(filters) {
    this.filters = filters;
    this.listError = null;
  }

  /**
   * Show at the filters why there is no list.
   * @param {CustomEvent} event
   */
  showProblem(event) {
    this.listError = event.detail;
  }

  /** @returns {import("./data-table.js").DataTable | null} */
  table() {
    return this.querySelector("data-table");
  }

  /** Render the dialogs, and what was done last; once in a page. */
  renderDialogs() {
    const { form } = this;
    return html`
      <p role="status" class="done good">${this.done}</p>
      <form-dialog
        heading=${form.heading}
        submit=${form.submit}
        .note=${form.note}
        .fields=${form.fields}
        .save=${form.save}
        .reload=${form.reload ?? null}
      ></form-dialog>
      <confirm-dialog></confirm-dialog>
      <detail-dialog></detail-dialog>
    `;
  }

  /**
   * Show something to read.
   * @param {string} heading
   * @param {unknown} content
   */
  async show(heading, content) {
    const dialog = /** @type {import("./detail-dialog.js").DetailDialog} */ (
      this.querySelector(":scope > detail-dialog")
    );
    await dialog.open(heading, content);
  }

  /**
   * Show a form, then the list again; returns what `save` has returned, or null.
   * @param {Form} form
   * @param {Values} values
   * @param {string} done what to say then
   */
  async ask(form, values, done) {
    this.form = form;
    this.done = "";
    await this.updateComplete;
    const dialog = /** @type {import("./form-dialog.js").FormDialog} */ (
      this.querySelector(":scope > form-dialog")
    );
    const result = await dialog.open(values);
    if (result !== null) await this.finish(done);
    return result;
  }

  /**
   * Ask before an action, run it, and show the list again; returns whether it was done.
   * @param {import("./confirm-dialog.js").Question & {done: string}} question
   */
  async confirm(question) {
    this.done = "";
    const dialog = /** @type {import("./confirm-dialog.js").ConfirmDialog} */ (
      this.querySelector(":scope > confirm-dialog")
    );
    const isDone = await dialog.ask(question);
    if (isDone) await this.finish(question.done);
    return isDone;
  }

  /** @param {string} done */
  async finish(done) {
    this.done = done;
    await this.table()?.reload();
  }
}
