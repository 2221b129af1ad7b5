// @ts-check
// Fields of the forms for contacts and lists, and the columns of their tables.

import { html, nothing } from "../vendored/lit.js";
import { dateTime } from "../lib/format.js";

/**
 * @typedef {import("../forms/values.js").Field} Field
 * @typedef {import("../components/data-table.js").Column} Column
 */

const OWN = "fields.";

/** @type {Field[]} */
export const LIST_FIELDS = [
  { name: "name", label: "Name", required: true, maxLength: 256 },
  { name: "description", label: "Description", type: "textarea", rows: 2, maxLength: 2000 },
  {
    name: "assignedFields",
    label: "Own fields",
    type: "list",
    rows: 2,
    placeholder: "city",
    hint: "What contacts of this list have beside number, names and e-mail address; one a line.",
  },
];

/** @type {Field[]} */
export const FILE_FIELDS = [
  {
    name: "file",
    label: "File",
    type: "file",
    required: true,
    accept: ".csv,.txt,.xlsx,.xls,.ods",
    hint: "CSV, xlsx, xls or ods. Its first row names the columns.",
  },
  { name: "encoding", label: "Encoding", hint: "Of a CSV file, such as cp1252; empty: it is recognized." },
  { name: "delimiter", label: "Separator", maxLength: 1, hint: "Of a CSV file; empty: it is recognized." },
  { name: "headerRow", label: "Row of the header", type: "number", min: 1, max: 1000, hint: "Empty: the first row that is not empty." },
];

/** @type {Field[]} */
export const TAG_FIELDS = [
  { name: "removeTag", label: "Remove the tag", maxLength: 64 },
  { name: "insertTag", label: "Add the tag", maxLength: 64 },
];

/**
 * Return the fields of a contact's form, with those of its list.
 * @param {string[]} ownFields
 * @returns {Field[]}
 */
export function contactFields(ownFields) {
  return [
    { name: "phoneNumber", label: "Number", required: true, maxLength: 64 },
    { name: "fName", label: "First name", maxLength: 128 },
    { name: "lName", label: "Last name", maxLength: 128 },
    { name: "email", label: "E-mail address", type: "email", maxLength: 254 },
    ...ownFields.map((name) => ({ name: OWN + name, label: name, maxLength: 1024 })),
    { name: "addToRunningCampaign", label: "Joins campaigns that run", type: "checkbox" },
  ];
}

/**
 * Return what REST expects of a contact's form; the empty fields of the list are left out.
 * @param {import("../forms/values.js").Values} values
 * @param {string} listId
 */
export function toContact(values, listId) {
  /** @type {Record<string, string>} */
  const fields = {};
  /** @type {Record<string, unknown>} */
  const contact = { contactListId: listId };
  for (const [name, value] of Object.entries(values)) {
    if (!name.startsWith(OWN)) contact[name] = value;
    else if (value !== null) fields[name.slice(OWN.length)] = value;
  }
  return { ...contact, fields };
}

/**
 * Return the values of a contact's form.
 * @param {any} contact
 */
export function fromContact(contact) {
  const own = Object.entries(contact.fields ?? {}).map(([name, value]) => [OWN + name, value]);
  return { ...contact, ...Object.fromEntries(own) };
}

/** @param {string[]} tags */
export function renderTags(tags) {
  return html`<span class="tags">${tags.map((each) => html`<span class="tag">${each}</span>`)}</span>`;
}

/**
 * Return the columns of contacts, with the fields of their list.
 * @param {string[]} ownFields
 * @returns {Column[]}
 */
export function contactColumns(ownFields) {
  return [
    { title: "Number", cell: (row) => row.phoneNumber },
    { title: "First name", cell: (row) => row.fName },
    { title: "Last name", cell: (row) => row.lName },
    { title: "E-mail address", cell: (row) => row.email },
    ...ownFields.map((name) => ({
      title: name,
      cell: (/** @type {any} */ row) => row.fields?.[name],
    })),
    { title: "Call status", cell: (row) => row.callStatus },
    { title: "Tags", cell: (row) => renderTags(row.tags) },
  ];
}

/** @type {Record<string, [string, string]>} */
const STATUSES = {
  CREATED: ["", "no file"],
  UPLOADED: ["accent", "file uploaded"],
  MAPPING_DONE: ["accent", "columns mapped"],
  PROCESSING: ["warn", "importing"],
  COMPLETED: ["good", "imported"],
  FAILED: ["bad", "import failed"],
};

/** @param {any} list */
export function renderStatus(list) {
  const [kind, text] = STATUSES[list.status] ?? ["", list.status];
  return html`<span class="tag ${kind}">${text}</span>${list.isDefault ? html` <span class="tag">default</span>` : nothing}`;
}

/** @type {Column[]} */
export const LIST_COLUMNS = [
  {
    title: "Name",
    cell: (row) => html`<a class="break" href="/console/contacts/${encodeURIComponent(row.contactListId)}">${row.name}</a>`,
  },
  { title: "Contacts", number: true, cell: (row) => row.contacts },
  { title: "Status", cell: renderStatus },
  { title: "Tags", cell: (row) => renderTags(row.tags) },
  { title: "File", cell: (row) => html`<span class="break">${row.file?.name ?? ""}</span>` },
  { title: "Changed", cell: (row) => dateTime(row.updatedTime) },
];
