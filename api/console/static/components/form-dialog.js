// @ts-check
// <form-dialog>: a form in a dialog, which sends its values with `save`.
//
//   <form-dialog heading="New agent" submit="Create" .fields=${fields}
//     .save=${(values) => put(`/srmain/voice/agents/${values.agentId}`, values)}
//     .reload=${async () => (await get(path))}></form-dialog>
//   const result = await dialog.open({ name: "Ada" });   // null: it was cancelled
//
// After an error, the dialog stays open with what was typed, and each field shows its errors. If
// somebody else has changed the resource meanwhile (412), it offers to load that version.

import { html, nothing } from "../vendored/lit.js";
import { renderField } from "../forms/field.js";
import { errorsByField, toTyped, toValues } from "../forms/values.js";
import { ConsoleElement } from "../lib/console-element.js";
import { RestError } from "../lib/rest.js";
import "./problem.js";

let serial = 0;

export class FormDialog extends ConsoleElement {
  static properties = {
    heading: {},
    submit: {},
    note: { attribute: false },
    fields: { attribute: false },
    save: { attribute: false },
    reload: { attribute: false },
    typed: { state: true },
    error: { state: true },
    busy: { state: true },
  };

  constructor() {
    super();
    serial += 1;
    this.idPrefix = `form-${serial}`;
    this.heading = "";
    this.submit = "Save";
    /** @type {unknown} */
    this.note = nothing;
    /** @type {import("../forms/values.js").Field[]} */
    this.fields = [];
    /** @type {(values: import("../forms/values.js").Values) => Promise<unknown>} */
    this.save = async () => null;
    /** Reads the resource as it is now. @type {(() => Promise<import("../forms/values.js").Values>) | null} */
    this.reload = null;
    /** @type {import("../forms/values.js").Values} */
    this.typed = {};
    /** @type {unknown} */
    this.error = null;
    this.busy = false;
    /** @type {(result: any) => void} */
    this.resolve = () => {};
  }

  /**
   * Show the form; returns what `save` has returned, or null.
   * @param {import("../forms/values.js").Values} [values]
   * @returns {Promise<any>}
   */
  async open(values = {}) {
    await this.updateComplete; // fields that were set just before
    this.fill(values);
    this.error = null;
    await this.updateComplete;
    this.dialog().showModal();
    return await new Promise((resolve) => (this.resolve = resolve));
  }

  /** @param {import("../forms/values.js").Values} values */
  fill(values) {
    this.typed = Object.fromEntries(
      this.fields.map((each) => [each.name, toTyped(each, values[each.name])]),
    );
  }

  dialog() {
    return /** @type {HTMLDialogElement} */ (this.querySelector("dialog"));
  }

  /** The fields that are shown: several may be of the same value, one at a time. */
  shown() {
    return this.fields.filter((each) => each.shown?.(this.typed) ?? true);
  }

  render() {
    const errors = this.error instanceof RestError ? this.error.errors : [];
    const { found } = errorsByField(this.shown(), errors);
    return html`
      <dialog aria-labelledby="${this.idPrefix}-heading" @close=${this.onClose}>
        <form class="stack" @submit=${this.onSubmit} novalidate>
          <h2 id="${this.idPrefix}-heading">${this.heading}</h2>
          ${this.note}
          ${this.fields.map((each) =>
            renderField(each, this.typed, this.idPrefix, found[each.name] ?? "", (name, value) => {
              this.typed = { ...this.typed, [name]: value };
            }),
          )}
          ${this.renderProblem()}
          <div class="row">
            <button class="primary" ?disabled=${this.busy}>${this.submit}</button>
            <button type="button" @click=${() => this.dialog().close()}>Cancel</button>
          </div>
        </form>
      </dialog>
    `;
  }

  renderProblem() {
    const { error } = this;
    if (!(error instanceof RestError)) return html`<console-problem .error=${error}></console-problem>`;
    if (error.status === 412 && this.reload) {
      return html`<div class="problem" role="alert">
        <p>
          Somebody else has changed this meanwhile, so nothing was saved.
          <a href="/docs/errors/${error.code}" target="_blank" rel="noopener">${error.code}</a>
        </p>
        <button type="button" ?disabled=${this.busy} @click=${this.onReload}>
          Load the current version
        </button>
        <span class="hint">It replaces what you have typed.</span>
      </div>`;
    }
    const { found, rest } = errorsByField(this.shown(), error.errors);
    const isInFields = Object.keys(found).length > 0;
    if (isInFields && !rest.length) {
      return html`<p class="problem" role="alert">
        Correct what is marked above.
        <a href="/docs/errors/${error.code}" target="_blank" rel="noopener">${error.code}</a>
      </p>`;
    }
    const shown = new RestError(error.status, error.code, error.detail, isInFields ? rest : error.errors);
    return html`<console-problem .error=${shown}></console-problem>`;
  }

  /** @param {SubmitEvent} event */
  async onSubmit(event) {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (this.busy || !form.reportValidity()) return;
    await this.attempt(async () => {
      const result = await this.save(toValues(this.fields, this.typed));
      this.resolve(result ?? true);
      this.dialog().close();
    });
  }

  async onReload() {
    await this.attempt(async () => this.fill(await /** @type {any} */ (this.reload)()));
  }

  /** @param {() => Promise<void>} action */
  async attempt(action) {
    this.busy = true;
    this.error = null;
    try {
      await action();
    } catch (error) {
      this.error = error;
      await this.updateComplete;
      /** @type {HTMLElement | null} */ (this.querySelector('[aria-invalid="true"]'))?.focus();
    } finally {
      this.busy = false;
    }
  }

  onClose() {
    this.resolve(null); // no effect after a success
    this.typed = {}; // a secret does not stay in the page
  }
}

customElements.define("form-dialog", FormDialog);
