// @ts-check
// <do-not-call-list>: numbers that the account does not call, and whether a number is one of them.

import { html, nothing } from "../vendored/lit.js";
import { ListPage } from "../components/list-page.js";
import { dateTime } from "../lib/format.js";
import { may } from "../lib/page.js";
import { del, post } from "../lib/rest.js";

const LIST = "/srmain/dnc";

/** @type {import("../components/filter-form.js").FilterField[]} */
const FILTERS = [
  { name: "phoneNo", label: "Check a number", placeholder: "+4790000000", maxLength: 64 },
  {
    name: "isActive",
    label: "Entries",
    type: "select",
    options: [
      { value: "", label: "all" },
      { value: "true", label: "that block calls" },
      { value: "false", label: "that were removed or are inactive" },
    ],
  },
];
/** @type {import("../forms/values.js").Field[]} */
const FIELDS = [
  { name: "phoneNo", label: "Number", required: true, maxLength: 64 },
  {
    name: "provider",
    label: "Provider",
    required: true,
    maxLength: 64,
    hint: "Who says so: a telecom provider, a register, or yourself. Each has an entry of its own.",
  },
];

export class DoNotCallList extends ListPage {
  static properties = { page: { state: true } };

  constructor() {
    super();
    /** @type {any} */
    this.page = null;
  }

  render() {
    return html`
      <div class="row middle spread page-head">
        <p class="quiet">
          Calls to these numbers are rejected, whatever requests them, within two seconds of a change.
        </p>
        ${may("contacts:write") ? html`<button class="primary" @click=${this.add}>Add a number</button>` : nothing}
      </div>
      ${this.renderFilters(FILTERS)}
      ${this.renderResult()}
      ${this.filters === null
        ? nothing
        : html`<data-table
            label="Do-not-call list"
            path=${LIST}
            .query=${this.filters}
            .columns=${COLUMNS}
            .actions=${may("contacts:write") ? this.renderActions.bind(this) : null}
            empty=${this.filters.phoneNo ? "The number has no entry." : "There is no entry."}
            @page=${(/** @type {CustomEvent} */ event) => (this.page = event.detail)}
            @problem=${this.showProblem}
          ></data-table>`}
      ${this.renderDialogs()}
    `;
  }

  /** @param {Record<string, any>} filters */
  filter(filters) {
    super.filter(filters);
    this.page = null;
  }

  renderResult() {
    if (!this.filters?.phoneNo || this.filters.isActive || this.page === null) return nothing;
    const listed = this.page.data.filter((/** @type {any} */ each) => each.isActive);
    const isBlocked = listed.some((/** @type {any} */ each) => each.isInForce);
    const result = isBlocked ? "is on the list: it is not called." : "is on the list, but not in force: it is called.";
    return html`<p role="status" class=${listed.length ? "problem" : "notice"}>
      ${this.filters.phoneNo} ${listed.length ? result : "is not on the list."}
    </p>`;
  }

  /** @param {any} entry */
  renderActions(entry) {
    if (!entry.isActive) return nothing;
    return html`<button class="danger" aria-label="Remove ${entry.phoneNo} of ${entry.provider}" @click=${() => this.erase(entry)}>
      Remove
    </button>`;
  }

  async add() {
    const form = {
      heading: "Add a number",
      submit: "Add",
      fields: FIELDS,
      save: async (/** @type {any} */ values) => await post(LIST, values),
    };
    await this.ask(form, {}, "The number is on the list.");
  }

  /** @param {any} entry */
  async erase(entry) {
    const query = new URLSearchParams({ phoneNo: entry.phoneNo, provider: entry.provider });
    await this.confirm({
      heading: `Remove ${entry.phoneNo}?`,
      text: `The entry of ${entry.provider} is removed. The number is called again if no other entry blocks it.`,
      action: "Remove",
      run: () => del(`${LIST}?${query}`),
      done: "The entry is removed.",
    });
  }
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Number", cell: (row) => row.phoneNo },
  { title: "Provider", cell: (row) => html`<span class="break">${row.provider}</span>` },
  {
    title: "State",
    cell: (row) => html`${row.isActive ? html`<span class="tag bad">not called</span>` : html`<span class="tag">inactive</span>`}
      ${row.isInForce ? nothing : html`<span class="tag warn">not in force</span> ${row.refusal}`}`,
  },
  { title: "Changed", cell: (row) => dateTime(row.changedTime) },
];

customElements.define("do-not-call-list", DoNotCallList);
