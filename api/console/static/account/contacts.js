// @ts-check
// <contact-lists>: the contact lists, the upload of a new one, and a search in all of them.

import { html, nothing } from "../vendored/lit.js";
import { ListPage } from "../components/list-page.js";
import { stringify } from "../lib/json.js";
import { may } from "../lib/page.js";
import { del, post, sendParts } from "../lib/rest.js";
import { contactColumns, FILE_FIELDS, LIST_COLUMNS, LIST_FIELDS } from "./contact-forms.js";

const CONTACTS = "/srmain/contacts_list";

/** @type {import("../components/filter-form.js").FilterField[]} */
const FILTERS = [
  { name: "name", label: "List", placeholder: "part of its name" },
  { name: "tags", label: "Tags of the list", placeholder: "vip, new" },
  { name: "phNumber", label: "Number", placeholder: "first digits" },
  { name: "fName", label: "First name" },
  { name: "lName", label: "Last name" },
  { name: "email", label: "E-mail address" },
];
const OF_CONTACTS = ["phNumber", "fName", "lName", "email"];

export class ContactLists extends ListPage {
  render() {
    const filters = Object.entries(this.filters ?? {});
    const ofContacts = Object.fromEntries(filters.filter(([name]) => OF_CONTACTS.includes(name)));
    const ofLists = Object.fromEntries(filters.filter(([name]) => !OF_CONTACTS.includes(name)));
    return html`
      ${this.renderFilters(FILTERS)}
      ${this.filters === null
        ? nothing
        : Object.keys(ofContacts).length
          ? this.renderFound(ofContacts)
          : this.renderLists(ofLists)}
      ${this.renderDialogs()}
    `;
  }

  /** @param {Record<string, any>} query */
  renderFound(query) {
    return html`
      <h2>Contacts of all lists</h2>
      <data-table
        label="Contacts"
        path="${CONTACTS}/all-contacts"
        .query=${query}
        .columns=${COLUMNS}
        empty="No contact begins like that."
        @problem=${this.showProblem}
      ></data-table>
    `;
  }

  /** @param {Record<string, any>} query */
  renderLists(query) {
    return html`
      ${may("contacts:write")
        ? html`<div class="row page-head">
            <button class="primary" @click=${this.upload}>Upload a file</button>
            <button @click=${this.create}>New list without a file</button>
          </div>`
        : nothing}
      <data-table
        label="Contact lists"
        path="${CONTACTS}/contactlists"
        .query=${query}
        .columns=${LIST_COLUMNS}
        .actions=${may("contacts:write") ? this.renderActions.bind(this) : null}
        empty="There is no list. Upload a file with numbers: CSV, or a spreadsheet."
        @problem=${this.showProblem}
      ></data-table>
    `;
  }

  /** @param {any} list */
  renderActions(list) {
    return html`<button class="danger" aria-label="Delete ${list.name}" @click=${() => this.erase(list)}>Delete</button>`;
  }

  async upload() {
    const form = {
      heading: "Upload contacts",
      submit: "Upload",
      note: html`<p class="hint">You then see its first rows, and choose which column is what. Nothing is imported before.</p>`,
      fields: [...FILE_FIELDS.slice(0, 1), ...LIST_FIELDS, ...FILE_FIELDS.slice(1)],
      save: async (/** @type {any} */ { file, ...values }) => {
        const data = stringify(withoutNulls(values));
        return await sendParts("POST", `${CONTACTS}/upload`, { file, data });
      },
    };
    open(await this.ask(form, {}, ""));
  }

  async create() {
    const form = {
      heading: "New contact list",
      submit: "Create",
      fields: LIST_FIELDS,
      save: async (/** @type {any} */ values) =>
        await post(`${CONTACTS}/inbound-contact-list`, { ...values, description: values.description ?? "" }),
    };
    open(await this.ask(form, {}, ""));
  }

  /** @param {any} list */
  async erase(list) {
    await this.confirm({
      heading: `Delete ${list.name}?`,
      text: `The list, its file and its ${list.contacts} contacts are deleted.`,
      action: "Delete",
      run: () => del(`${CONTACTS}/delete-file/${encodeURIComponent(list.contactListId)}`),
      done: "The list is deleted.",
    });
  }
}

/** @param {Record<string, unknown>} values */
function withoutNulls(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/** @param {any} list */
function open(list) {
  if (list !== null) location.assign(`/console/contacts/${encodeURIComponent(list.contactListId)}`);
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  ...contactColumns([]),
  {
    title: "List",
    cell: (row) => html`<a href="/console/contacts/${encodeURIComponent(row.contactListId)}">open</a>`,
  },
];

customElements.define("contact-lists", ContactLists);
