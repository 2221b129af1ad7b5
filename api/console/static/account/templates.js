// @ts-check
// <template-list>: message templates, their status at the platform, and test messages.

import { html, nothing } from "../vendored/lit.js";
import { ListPage } from "../components/list-page.js";
import "../components/problem.js";
import { dateTime } from "../lib/format.js";
import { stringify } from "../lib/json.js";
import { may } from "../lib/page.js";
import { del, get, patch, post, RestError, sendParts } from "../lib/rest.js";
import { toRequest, valuesOf } from "./template-content.js";
import { headerKindOf, mediaFields, sizeError, toHeader, toUpload } from "./template-media.js";

const TEMPLATES = "/srmain/msgapp_templates";
const CATEGORIES = ["UTILITY", "MARKETING", "AUTHENTICATION"];
/** @type {Record<string, string>} */
const STATUS_KINDS = { APPROVED: "good", REJECTED: "bad", DISABLED: "bad", PENDING: "warn", PAUSED: "warn" };

/** @param {string[]} values */
const choices = (values) => values.map((value) => ({ value, label: value.toLowerCase() }));

/** @type {import("../components/filter-form.js").FilterField[]} */
const FILTERS = [
  { name: "name", label: "Name" },
  { name: "category", label: "Category", type: "select", options: [{ value: "", label: "any" }, ...choices(CATEGORIES)] },
  { name: "status", label: "Status", placeholder: "APPROVED" },
  { name: "phoneNumberId", label: "Number's id" },
];

/**
 * Return the fields of a template's form; of one that exists, name and language stay.
 * @param {{value: string, label: string}[]} numbers
 * @param {any} before the template; null: it is new
 * @returns {import("../forms/values.js").Field[]}
 */
function fieldsOf(numbers, before) {
  /** @type {import("../forms/values.js").Field[]} */
  const names = [
    { name: "name", label: "Name", required: true, maxLength: 512, hint: "a-z, 0-9 and _, such as order_sent." },
    { name: "language", label: "Language", required: true, placeholder: "en_US" },
  ];
  return [
    ...(before === null ? names : []),
    { name: "category", label: "Category", type: "select", options: choices(CATEGORIES) },
    numbers.length
      ? { name: "phoneNumberId", label: "Number", type: "select", options: numbers }
      : { name: "phoneNumberId", label: "Number's id", required: true },
    {
      name: "content",
      label: "Content",
      type: "select",
      options: [
        { value: "texts", label: "texts" },
        { value: "json", label: "all components, as JSON (buttons, examples)" },
      ],
    },
    ...mediaFields(before === null ? "" : headerKindOf(before.components)),
    { name: "headerText", label: "Header", maxLength: 60, shown: (values) => isTexts(values) && !values.headerKind },
    {
      name: "bodyText",
      label: "Body",
      type: "textarea",
      rows: 4,
      maxLength: 1024,
      hint: "Placeholders are {{1}}, {{2}} and so on.",
      shown: isTexts,
    },
    { name: "footerText", label: "Footer", maxLength: 60, shown: isTexts },
    {
      name: "components",
      label: "Components",
      type: "textarea",
      rows: 12,
      hint: "In the platform's format.",
      shown: (values) => values.content === "json",
    },
  ];
}

/** @param {import("../forms/values.js").Values} values */
function isTexts(values) {
  return values.content !== "json";
}

export class TemplateList extends ListPage {
  static properties = {
    numbers: { state: true },
    error: { state: true },
    busy: { state: true },
  };

  constructor() {
    super();
    /** The messaging numbers of the account. @type {{value: string, label: string}[]} */
    this.numbers = [];
    /** Done when the numbers are read, or cannot be. @type {Promise<void>} */
    this.numbersRead = Promise.resolve();
    /** @type {unknown} */
    this.error = null;
    this.busy = false;
    /** Headers of files that are at the platform: a form that is sent again sends no file again. */
    this.uploaded = new WeakMap();
  }

  connectedCallback() {
    super.connectedCallback();
    if (may("numbers:read") && may("templates:write")) this.numbersRead = this.readNumbers();
  }

  async readNumbers() {
    try {
      const { data } = await get("/srmain/msgapp-numbers", { limit: 1_000 });
      this.numbers = data.map((/** @type {any} */ each) => ({
        value: each.phoneNumberId,
        label: `${each.businessMsgappNumber} (${each.businessName})`,
      }));
    } catch (error) {
      this.error = error;
    }
  }

  render() {
    return html`
      ${this.renderFilters(FILTERS)}
      ${may("templates:write")
        ? html`<div class="row page-head">
            <button class="primary" @click=${this.create}>New template</button>
            <button ?disabled=${this.busy} @click=${this.sync}>Read all statuses from the platform</button>
          </div>`
        : nothing}
      <console-problem .error=${this.error}></console-problem>
      ${this.filters === null
        ? nothing
        : html`<data-table
            label="Templates"
            path="${TEMPLATES}?${new URLSearchParams({ name: "", category: "", status: "", ...this.filters })}"
            .columns=${COLUMNS}
            .actions=${this.renderActions.bind(this)}
            empty="No template matches."
            @problem=${this.showProblem}
          ></data-table>`}
      ${this.renderDialogs()}
    `;
  }

  /** @param {any} template */
  renderActions(template) {
    const { name } = template;
    return html`
      <button aria-label="Show ${name}" @click=${() => this.show(name, content(template))}>Show</button>
      ${may("templates:write")
        ? html`<button aria-label="Test ${name}" @click=${() => this.sendTest(template)}>Test</button>
            <button aria-label="Edit ${name}" @click=${() => this.edit(template)}>Edit</button>
            <button class="danger" aria-label="Delete ${name}" @click=${() => this.erase(template)}>Delete</button>`
        : nothing}
    `;
  }

  async create() {
    await this.numbersRead; // without them, the form has a field for the number's id
    const form = {
      heading: "New template",
      submit: "Create",
      note: html`<p class="hint">The messaging platform reviews it: the status shows when it may be sent.</p>`,
      fields: fieldsOf(this.numbers, null),
      save: async (/** @type {any} */ values) =>
        await post(TEMPLATES, toRequest(values, null, await this.upload(values, []))),
    };
    await this.ask(form, {}, "The template is created.");
  }

  /** @param {any} template */
  async edit(template) {
    await this.numbersRead;
    const form = {
      heading: `Template ${template.name}`,
      submit: "Save",
      fields: fieldsOf(this.numbers, template),
      save: async (/** @type {any} */ values) => {
        const header = await this.upload(values, template.components);
        const path = `${TEMPLATES}/${encodeURIComponent(template.id)}`;
        return await patch(path, toRequest(values, template, header));
      },
    };
    const components = stringify(template.components, 2);
    const headerKind = headerKindOf(template.components);
    await this.ask(form, { ...template, components, headerKind }, "The template is saved.");
  }

  /**
   * Upload the file of a header; returns the header, or null if there is nothing to upload.
   * @param {import("../forms/values.js").Values} values
   * @param {any[]} components of the template until now
   */
  async upload(values, components) {
    const found = toUpload(values, components);
    if (found === null) return null;
    const { kind, file } = found;
    const error = sizeError(kind, file);
    if (error !== null) throw new RestError(400, error.code, error.message, [error]);
    const known = file === null ? undefined : this.uploaded.get(file);
    if (known) return known;
    const parts = { file, mediaKind: kind };
    const header = toHeader(kind, (await sendParts("POST", `${TEMPLATES}/upload-header-media`, parts)).handle);
    if (file !== null) this.uploaded.set(file, header);
    return header;
  }

  /** @param {any} template */
  async sendTest(template) {
    const values = valuesOf(template.components);
    const form = {
      heading: `Send ${template.name} as a test`,
      submit: "Send",
      fields: [
        { name: "phoneNumber", label: "To", required: true, maxLength: 32, placeholder: "+4790000000" },
        ...values.map((name) => ({
          name: `variableValues.${name}`,
          label: name === "header" ? "Address of the header's file" : `Value of ${name}`,
          required: true,
          maxLength: 2_000,
        })),
      ],
      save: async (/** @type {any} */ given) =>
        await post(`${TEMPLATES}/test-send`, {
          templateId: template.id,
          phoneNumber: given.phoneNumber,
          variableValues: Object.fromEntries(
            values.map((name) => [name, given[`variableValues.${name}`]]),
          ),
        }),
    };
    await this.ask(form, {}, "The test message is sent.");
  }

  async sync() {
    this.busy = true;
    try {
      const { checked, updated, missing } = await post(`${TEMPLATES}/sync-status`);
      this.error = null;
      await this.finish(
        `${checked} templates checked, ${updated} updated, ${missing.length} are missing at the platform.`,
      );
    } catch (error) {
      this.error = error;
    } finally {
      this.busy = false;
    }
  }

  /** @param {any} template */
  async erase(template) {
    await this.confirm({
      heading: `Delete ${template.name}?`,
      text: `The template is deleted in ${template.language}, here and on the messaging platform.`,
      action: "Delete",
      run: () => del(`${TEMPLATES}/${encodeURIComponent(template.id)}`),
      done: "The template is deleted.",
    });
  }
}

/** @param {any} template */
function content({ headerText, bodyText, footerText, components, statusReason }) {
  const kind = headerKindOf(components);
  return html`
    ${statusReason ? html`<p class="problem">The platform rejected it: ${statusReason}</p>` : nothing}
    <div class="card message">
      ${kind ? html`<p><span class="tag">${kind}</span></p>` : nothing}
      ${headerText ? html`<p><b>${headerText}</b></p>` : nothing}
      <p>${bodyText}</p>
      ${footerText ? html`<p class="hint">${footerText}</p>` : nothing}
    </div>
    <details>
      <summary>Components as JSON</summary>
      <pre tabindex="0">${stringify(components, 2)}</pre>
    </details>
  `;
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Name", cell: (row) => html`<code class="break">${row.name}</code>` },
  { title: "Language", cell: (row) => row.language },
  { title: "Category", cell: (row) => row.category.toLowerCase() },
  {
    title: "Status",
    cell: (row) =>
      row.status
        ? html`<span class="tag ${STATUS_KINDS[row.status] ?? ""}">${row.status}</span> <span class="quiet">${row.statusReason}</span>`
        : html`<span class="quiet">not reported yet</span>`,
  },
  { title: "Body", cell: (row) => html`<span class="break">${row.bodyText}</span>` },
  { title: "Changed", cell: (row) => dateTime(row.updatedAt) },
];

customElements.define("template-list", TemplateList);
