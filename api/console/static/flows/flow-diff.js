// @ts-check
// <flow-diff flow="support" .versions=${versions}>: what differs between two versions.

import { html, live, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { stringify } from "../lib/json.js";
import { get } from "../lib/rest.js";
import { pathOf } from "./flow-rest.js";
import "../components/data-table.js";
import "../components/problem.js";

/** @typedef {{path: string, change: string, before?: unknown, after?: unknown}} Difference */

/** @type {Record<string, string>} */
const TAGS = { added: "good", removed: "bad", changed: "warn" };

export class FlowDiff extends ConsoleElement {
  static properties = {
    flow: {},
    versions: { attribute: false },
    from: { type: Number },
    to: { type: Number },
    differences: { state: true },
    hasMore: { state: true },
    error: { state: true },
  };

  constructor() {
    super();
    this.flow = "";
    /** @type {import("./flow-rest.js").VersionView[]} */
    this.versions = [];
    this.from = 0;
    this.to = 0;
    /** @type {Difference[] | null} */
    this.differences = null;
    this.hasMore = false;
    /** @type {unknown} */
    this.error = null;
  }

  /** @param {Map<string, unknown>} changed */
  willUpdate(changed) {
    if (changed.has("from") || changed.has("to")) void this.load();
  }

  async load() {
    const { from, to } = this;
    if (!from || !to) return;
    try {
      const found = await get(`${pathOf(this.flow)}/diff`, { from, to });
      if (from !== this.from || to !== this.to) return; // others were chosen meanwhile
      this.differences = found.differences;
      this.hasMore = found.hasMore;
      this.error = null;
    } catch (error) {
      this.error = error;
    }
  }

  render() {
    return html`
      <div class="row middle">
        ${this.renderChoice("From version", this.from, (number) => (this.from = number))}
        ${this.renderChoice("to version", this.to, (number) => (this.to = number))}
      </div>
      <console-problem .error=${this.error}></console-problem>
      ${this.differences === null
        ? nothing
        : html`<data-table
            class="diff"
            label="Differences"
            .rows=${this.differences}
            .columns=${COLUMNS}
            empty="These versions are equal."
          ></data-table>`}
      ${this.hasMore ? html`<p>There are more differences.</p>` : nothing}
    `;
  }

  /**
   * @param {string} label
   * @param {number} value
   * @param {(number: number) => void} choose
   */
  renderChoice(label, value, choose) {
    /** @param {Event} event */
    const changed = (event) => choose(Number(/** @type {HTMLSelectElement} */ (event.target).value));
    return html`<label class="inline">
      ${label}
      <select @change=${changed}>
        ${this.versions.map(
          ({ number }) => html`<option value=${number} .selected=${live(number === value)}>${number}</option>`,
        )}
      </select>
    </label>`;
  }
}

/** @type {import("../components/data-table.js").Column[]} */
const COLUMNS = [
  { title: "Field", cell: (row) => html`<code>${row.path || "document"}</code>` },
  { title: "Change", cell: (row) => html`<span class="tag ${TAGS[row.change] ?? ""}">${row.change}</span>` },
  { title: "Before", cell: (row) => written(row.before) },
  { title: "After", cell: (row) => written(row.after) },
];

/** @param {unknown} value */
function written(value) {
  return value === undefined ? "" : html`<code>${stringify(value, 2)}</code>`;
}

customElements.define("flow-diff", FlowDiff);
