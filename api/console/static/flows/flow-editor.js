// @ts-check
// <flow-editor flow="support" version="3" sample="menu">: one flow with its versions.

import { html, nothing } from "../vendored/lit.js";
import { ListPage } from "../components/list-page.js";
import { dateTime, size } from "../lib/format.js";
import { stringify } from "../lib/json.js";
import { may } from "../lib/page.js";
import { RestError } from "../lib/rest.js";
import { publishVersion, readFlow, readVersion, readVersions, saveFlow } from "./flow-rest.js";
import { findSample } from "./samples.js";
import "../components/problem.js";
import "./flow-diff.js";
import "./flow-document.js";

/** @typedef {import("./flow-rest.js").VersionView} VersionView */
export class FlowEditor extends ListPage {
  static properties = {
    ...ListPage.properties,
    flow: {},
    version: {},
    sample: {},
    text: { state: true },
    versions: { state: true },
    shown: { state: true },
    compared: { state: true },
    isReady: { state: true },
    isBusy: { state: true },
    error: { state: true },
  };

  constructor() {
    super();
    this.flow = "";
    this.version = "";
    this.sample = "";
    this.text = "";
    /** The text as it is stored. */
    this.stored = "";
    /** Empty for a flow that is not stored yet. */
    this.etag = "";
    /** @type {VersionView[]} */
    this.versions = [];
    /** The version in the editor; 0: none. */
    this.shown = 0;
    /** @type {[number, number] | null} */
    this.compared = null;
    this.isReady = false;
    this.isBusy = false;
    /** @type {unknown} */
    this.error = null;
    this.guard = this.guard.bind(this);
  }

  connectedCallback() {
    super.connectedCallback();
    window.addEventListener("beforeunload", this.guard);
    void this.load(Number(this.version) || 0);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("beforeunload", this.guard);
  }

  get isChanged() {
    return this.text !== this.stored;
  }

  /** @param {BeforeUnloadEvent} event */
  guard(event) {
    if (this.isChanged) event.preventDefault();
  }

  /**
   * Show a version; without a number, the one that calls run.
   * @param {number} [number]
   */
  async load(number = 0) {
    await this.attempt(async () => {
      const found = await readFlow(this.flow).catch((error) => {
        if (error instanceof RestError && error.status === 404 && this.sample) return null;
        throw error;
      });
      if (found === null) {
        this.text = findSample(this.sample).text;
      } else {
        const shown = number && number !== found.number ? await readVersion(this.flow, number) : found;
        this.etag = found.etag;
        this.versions = await readVersions(this.flow);
        this.showVersion(shown.number, stringify(shown.document, 2));
      }
      this.isReady = true;
    });
  }

  /**
   * @param {number} number
   * @param {string} text
   */
  showVersion(number, text) {
    this.shown = number;
    this.stored = text;
    this.text = text;
    history.replaceState(null, "", `?${new URLSearchParams({ id: this.flow, version: String(number) })}`);
  }

  render() {
    if (!this.isReady) {
      return html`<h2><code>${this.flow}</code></h2>
        <console-problem .error=${this.error}></console-problem>`;
    }
    const published = this.versions.find((each) => each.isPublished)?.number;
    return html`
      <h2 class="row middle flow-head">
        <a href="/console/flows">Flows</a> / <code>${this.flow}</code>
        ${this.shown ? html`<span class="tag">version ${this.shown}</span>` : html`<span class="tag warn">new</span>`}
        ${this.shown && this.shown === published ? html`<span class="tag good">published</span>` : nothing}
        ${this.isChanged ? html`<span class="tag warn">not saved</span>` : nothing}
      </h2>
      ${may("routes:write") ? this.renderButtons(published) : nothing} ${this.renderError()}
      <flow-document
        label="Flow ${this.flow}"
        check-id=${this.flow}
        ?readonly=${!may("routes:write")}
        .text=${this.text}
        @change=${(/** @type {CustomEvent} */ event) => (this.text = event.detail.value)}
      ></flow-document>
      ${this.versions.length ? this.renderVersions() : nothing} ${this.renderDialogs()}
    `;
  }

  /** @param {number | undefined} published */
  renderButtons(published) {
    const isStored = this.shown !== 0 && !this.isChanged;
    return html`
      <div class="row middle flow-buttons">
        <button class="primary" ?disabled=${this.isBusy || (isStored && this.shown === published)} @click=${this.publish}>
          Publish
        </button>
        <button ?disabled=${this.isBusy || isStored} @click=${() => this.save(false)}>Save draft</button>
        <button ?disabled=${this.isBusy || !this.isChanged || !this.stored} @click=${() => (this.text = this.stored)}>
          Discard changes
        </button>
        <a class="button" href="/console/playground?flow=${encodeURIComponent(this.flow)}">Try it</a>
      </div>
    `;
  }

  renderError() {
    const { error } = this;
    if (!(error instanceof RestError) || error.status !== 412) {
      return html`<console-problem .error=${error}></console-problem>`;
    }
    return html`<div class="problem" role="alert">
      <p>
        Somebody else has changed this flow meanwhile, so nothing was saved.
        <a href="/docs/errors/${error.code}" target="_blank" rel="noopener">${error.code}</a>
      </p>
      <div class="row">
        <button @click=${this.compareMeanwhile}>Show what they changed</button>
        <button @click=${() => this.load()}>Load theirs, discard mine</button>
        <button @click=${this.overwrite}>Save mine as the next version</button>
      </div>
    </div>`;
  }

  renderVersions() {
    return html`
      <h2>Versions</h2>
      <data-table
        label="Versions"
        .rows=${this.versions}
        .columns=${COLUMNS}
        .actions=${this.renderActions.bind(this)}
      ></data-table>
      ${this.compared === null
        ? nothing
        : html`<h2>Differences</h2>
            <flow-diff
              flow=${this.flow}
              .versions=${this.versions}
              .from=${this.compared[0]}
              .to=${this.compared[1]}
            ></flow-diff>`}
    `;
  }

  /** @param {VersionView} version */
  renderActions({ number, isPublished }) {
    return html`
      <button aria-label="Open version ${number}" @click=${() => this.open(number)}>Open</button>
      <button
        aria-label="Compare version ${number}"
        ?disabled=${this.versions.length < 2}
        @click=${() => this.compare(number)}
      >
        Compare
      </button>
      ${may("routes:write") && !isPublished
        ? html`<button aria-label="Publish version ${number}" @click=${() => this.rollBack(number)}>Publish</button>`
        : nothing}
    `;
  }

  /** @param {number} number */
  async open(number) {
    if (!this.isChanged) return await this.load(number);
    await this.confirm({
      heading: "Discard what you have changed?",
      text: `Version ${number} replaces the text in the editor.`,
      action: "Discard",
      run: () => this.load(number),
      done: "",
    });
  }

  /** @param {number} number */
  compare(number) {
    const others = this.versions.map((each) => each.number).filter((each) => each !== number);
    const other = others.includes(this.shown) ? this.shown : (others[0] ?? number);
    this.compared = [Math.min(number, other), Math.max(number, other)];
  }

  async compareMeanwhile() {
    const { error } = this;
    await this.attempt(async () => {
      this.versions = await readVersions(this.flow);
      this.compared = [this.shown || 1, this.versions[0]?.number ?? 1];
    });
    this.error ??= error; // what to do about it is still open
  }

  async overwrite() {
    await this.attempt(async () => void (this.etag = (await readFlow(this.flow)).etag));
    if (this.error === null) await this.save(false);
  }

  async publish() {
    if (this.isChanged || this.shown === 0) await this.save(true);
    else await this.rollBack(this.shown);
  }

  /** @param {boolean} isPublished */
  async save(isPublished) {
    const { text } = this;
    await this.attempt(async () => {
      const saved = await saveFlow(this.flow, text, this.etag, isPublished);
      await this.afterChange(saved, saved.latest, text);
      this.done = isPublished
        ? `Version ${saved.latest} is published: new calls run it.`
        : `Version ${saved.latest} is saved as a draft. No call runs it yet.`;
    });
  }

  /** @param {number} number */
  async rollBack(number) {
    await this.attempt(async () => {
      const saved = await publishVersion(this.flow, number, this.etag);
      await this.afterChange(saved, this.shown, this.stored); // what is in the editor stays
      this.done = `Version ${number} is published: new calls run it.`;
    });
  }

  /**
   * @param {import("./flow-rest.js").FlowSummary} saved
   * @param {number} shown
   * @param {string} stored
   */
  async afterChange(saved, shown, stored) {
    this.etag = `"${saved.version}"`;
    this.stored = stored;
    this.shown = shown;
    this.versions = await readVersions(this.flow);
    history.replaceState(null, "", `?${new URLSearchParams({ id: this.flow, version: String(shown) })}`);
  }

  /** @param {() => Promise<void>} action */
  async attempt(action) {
    this.isBusy = true;
    this.error = null;
    this.done = "";
    try {
      await action();
    } catch (error) {
      this.error = error;
    } finally {
      this.isBusy = false;
    }
  }
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Version", number: true, cell: (row) => row.number },
  { title: "State", cell: (row) => (row.isPublished ? html`<span class="tag good">published</span>` : "") },
  { title: "Created", cell: (row) => dateTime(row.createdTime) },
  { title: "Size", number: true, cell: (row) => size(row.size) },
];

customElements.define("flow-editor", FlowEditor);
