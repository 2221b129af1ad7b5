// @ts-check
// <contact-list>: a list: its settings and file, its contacts, their tags, and exports.

import { html, nothing } from "../vendored/lit.js";
import { ListPage } from "../components/list-page.js";
import "../components/problem.js";
import { count } from "../lib/format.js";
import { stringify } from "../lib/json.js";
import { may } from "../lib/page.js";
import { del, get, patch, post, sendParts } from "../lib/rest.js";
import "./contact-export.js";
import {
  contactColumns,
  contactFields,
  FILE_FIELDS,
  fromContact,
  LIST_FIELDS,
  renderStatus,
  renderTags,
  TAG_FIELDS,
  toContact,
} from "./contact-forms.js";
import "./contact-import.js";

const CONTACTS = "/srmain/contacts_list";
const LIST_ID = decodeURIComponent(location.pathname.split("/").at(-1) ?? "");

/** @type {import("../components/filter-form.js").FilterField[]} */
const FILTERS = [
  { name: "number", label: "Number", placeholder: "first digits" },
  { name: "fName", label: "First name" },
  { name: "lName", label: "Last name" },
  { name: "tags", label: "Tags", placeholder: "vip, new" },
];

/** @param {string} action */
const pathOf = (action) => `${CONTACTS}/${action}/${encodeURIComponent(LIST_ID)}`;
/** @param {any} contact */
const nameOf = (contact) => [contact.fName, contact.lName].filter(Boolean).join(" ") || contact.phoneNumber;

export class ContactList extends ListPage {
  static properties = {
    list: { state: true },
    error: { state: true },
  };

  constructor() {
    super();
    /** @type {any} */
    this.list = null;
    /** @type {unknown} */
    this.error = null;
  }

  connectedCallback() {
    super.connectedCallback();
    void this.read();
  }

  async read() {
    try {
      this.list = await get(pathOf("contactlists"));
      this.error = null;
    } catch (error) {
      this.error = error;
    }
  }

  render() {
    return html`
      <p><a href="/console/contacts">All lists</a></p>
      <console-problem .error=${this.error}></console-problem>
      ${this.list ? this.renderList() : nothing} ${this.renderDialogs()}
    `;
  }

  renderList() {
    const { list } = this;
    const canWrite = may("contacts:write");
    return html`
      <section class="card stack page-head" aria-labelledby="list-heading">
        <h2 id="list-heading" class="break">${list.name}</h2>
        ${list.description ? html`<p class="break">${list.description}</p>` : nothing}
        <p>${count(list.contacts)} contacts ${renderStatus(list)} ${renderTags(list.tags)}</p>
        ${canWrite
          ? html`<div class="row">
              <button @click=${this.editList}>Edit</button>
              <button @click=${this.editTags}>Tags</button>
              <button @click=${this.replaceFile}>${list.file ? "Replace the file" : "Upload a file"}</button>
            </div>`
          : nothing}
      </section>
      <contact-import .list=${list} @imported=${this.refresh}></contact-import>
      <h2>Contacts</h2>
      ${this.renderFilters(FILTERS)}
      <div class="row page-head">
        ${canWrite
          ? html`<button class="primary" @click=${this.addContact}>New contact</button>
              <button @click=${this.changeTags}>Change tags of all</button>`
          : nothing}
        ${may("contacts:export") ? html`<contact-export listId=${LIST_ID}></contact-export>` : nothing}
      </div>
      ${this.filters === null
        ? nothing
        : html`<data-table
            label="Contacts"
            path=${pathOf("viewContacts")}
            .query=${this.filters}
            .columns=${contactColumns(list.assignedFields)}
            .actions=${canWrite ? this.renderActions.bind(this) : null}
            empty="No contact matches."
            @problem=${this.showProblem}
          ></data-table>`}
    `;
  }

  /** @param {any} contact */
  renderActions(contact) {
    return html`
      <button aria-label="Edit ${nameOf(contact)}" @click=${() => this.editContact(contact)}>Edit</button>
      <button class="danger" aria-label="Delete ${nameOf(contact)}" @click=${() => this.erase(contact)}>Delete</button>
    `;
  }

  async refresh() {
    await Promise.all([this.read(), this.table()?.reload()]);
  }

  async editList() {
    const form = {
      heading: "Contact list",
      submit: "Save",
      fields: LIST_FIELDS,
      save: async (/** @type {any} */ values) => {
        const data = stringify({ ...values, description: values.description ?? "" });
        return await sendParts("PATCH", pathOf("updatecontactlist"), { data });
      },
    };
    if ((await this.ask(form, this.list, "The list is saved.")) !== null) await this.read();
  }

  async editTags() {
    const before = this.list.tags;
    const form = {
      heading: "Tags of the list",
      submit: "Save",
      note: html`<p class="hint">The tags of its contacts stay as they are.</p>`,
      fields: [{ name: "tags", label: "Tags", type: /** @type {const} */ ("list"), path: ["tagsToAdd", "tagsToRemove"], hint: "One a line." }],
      save: async (/** @type {any} */ { tags }) =>
        await patch(`${CONTACTS}/${encodeURIComponent(LIST_ID)}/tags`, {
          tagsToAdd: tags.filter((/** @type {string} */ each) => !before.includes(each)),
          tagsToRemove: before.filter((/** @type {string} */ each) => !tags.includes(each)),
        }),
    };
    if ((await this.ask(form, this.list, "The tags are saved.")) !== null) await this.read();
  }

  async replaceFile() {
    const form = {
      heading: "File of the list",
      submit: "Upload",
      note: html`<p class="hint">It replaces the file of the list. Contacts stay until it is imported.</p>`,
      fields: FILE_FIELDS,
      save: async (/** @type {any} */ { file, ...options }) => {
        const data = stringify(options);
        return await sendParts("PATCH", pathOf("updatecontactlist"), { file, data });
      },
    };
    if ((await this.ask(form, {}, "The file is uploaded.")) !== null) await this.read();
  }

  async addContact() {
    const form = {
      heading: "New contact",
      submit: "Create",
      fields: contactFields(this.list.assignedFields),
      save: async (/** @type {any} */ values) => await post(`${CONTACTS}/contactNumber`, toContact(values, LIST_ID)),
    };
    if ((await this.ask(form, {}, "The contact is added.")) !== null) await this.read();
  }

  /** @param {any} contact */
  async editContact(contact) {
    const path = `${CONTACTS}/contactNumber/${encodeURIComponent(contact.contactId)}`;
    const form = {
      heading: "Contact",
      submit: "Save",
      fields: contactFields(this.list.assignedFields),
      save: async (/** @type {any} */ values) => await patch(path, toContact(values, LIST_ID)),
    };
    await this.ask(form, fromContact(contact), "The contact is saved.");
  }

  async changeTags() {
    const form = {
      heading: "Tags of all contacts",
      submit: "Change",
      note: html`<p class="hint">With both, those who have the first get the second instead. With the second alone, all get it.</p>`,
      fields: TAG_FIELDS,
      save: async (/** @type {any} */ values) =>
        await patch(`${CONTACTS}/${encodeURIComponent(LIST_ID)}/manage-tags`, values),
    };
    await this.ask(form, {}, "The tags are changed; those of a long list in a moment.");
  }

  /** @param {any} contact */
  async erase(contact) {
    const query = `contactPoolId=${encodeURIComponent(LIST_ID)}`;
    const isDone = await this.confirm({
      heading: `Delete ${nameOf(contact)}?`,
      text: "The contact is deleted from this list.",
      action: "Delete",
      run: () => del(`${CONTACTS}/contactNumber/${encodeURIComponent(contact.contactId)}?${query}`),
      done: "The contact is deleted.",
    });
    if (isDone) await this.read();
  }
}

customElements.define("contact-list", ContactList);
