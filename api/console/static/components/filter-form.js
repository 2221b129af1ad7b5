// @ts-check
// <filter-form>: the filters of a list. They are kept in the address, so a link shows the same rows.
//
//   <filter-form .fields=${FIELDS} @filter=${(event) => (this.query = event.detail)}></filter-form>
//
// Those with `isMore` are in a part that opens. It emits `filter` once it is there, and after each
// change, with the values that are not empty.

import { html, nothing } from "../vendored/lit.js";
import { renderField } from "../forms/field.js";
import { errorsByField, toTyped, toValues } from "../forms/values.js";
import { ConsoleElement } from "../lib/console-element.js";
import { readFilters, writeFilters } from "../lib/address.js";
import { RestError } from "../lib/rest.js";

/** @typedef {import("../forms/values.js").Field & {isMore?: boolean}} FilterField */

export class FilterForm extends ConsoleElement {
  static properties = {
    fields: { attribute: false },
    error: { attribute: false },
    typed: { state: true },
  };

  constructor() {
    super();
    /** @type {FilterField[]} */
    this.fields = [];
    /** The problem of the list, which marks the filters that it names. @type {unknown} */
    this.error = null;
    /** @type {import("../forms/values.js").Values} */
    this.typed = {};
    this.isOpen = false;
  }

  firstUpdated() {
    this.fill(readFilters(this.fields.map((each) => each.name)));
    this.isOpen = this.fields.some((each) => each.isMore && this.typed[each.name]);
    this.emit();
  }

  /** @param {Record<string, string>} values */
  fill(values) {
    this.typed = Object.fromEntries(
      this.fields.map((each) => [each.name, toTyped(each, values[each.name])]),
    );
  }

  emit() {
    const values = Object.entries(toValues(this.fields, this.typed));
    const detail = Object.fromEntries(values.filter(([, value]) => value !== null && value !== false));
    writeFilters(detail);
    this.dispatchEvent(new CustomEvent("filter", { detail }));
  }

  render() {
    const errors = this.error instanceof RestError ? this.error.errors : [];
    const { found } = errorsByField(this.fields, errors);
    /** @param {FilterField} each */
    const field = (each) =>
      renderField(each, this.typed, "filter", found[each.name] ?? "", (name, value) => {
        this.typed = { ...this.typed, [name]: value };
      });
    const more = this.fields.filter((each) => each.isMore);
    return html`
      <form class="filters" role="search" @submit=${this.onSubmit}>
        <div class="row">
          ${this.fields.filter((each) => !each.isMore).map(field)}
          <button class="primary">Show</button>
          <button type="button" @click=${this.clear}>Clear</button>
        </div>
        ${more.length
          ? html`<details ?open=${this.isOpen}>
              <summary>More filters</summary>
              <div class="row">${more.map(field)}</div>
            </details>`
          : nothing}
      </form>
    `;
  }

  /** @param {SubmitEvent} event */
  onSubmit(event) {
    event.preventDefault();
    this.emit();
  }

  clear() {
    this.fill({});
    this.emit();
  }
}

customElements.define("filter-form", FilterForm);
