// @ts-check
// <detail-dialog>: something to read in a dialog, such as a request with its response.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";

let serial = 0;

export class DetailDialog extends ConsoleElement {
  static properties = { heading: { state: true }, content: { state: true } };

  constructor() {
    super();
    serial += 1;
    this.headingId = `detail-${serial}`;
    this.heading = "";
    /** @type {unknown} */
    this.content = nothing;
  }

  /**
   * Show a template until the dialog is closed.
   * @param {string} heading
   * @param {unknown} content
   */
  async open(heading, content) {
    this.heading = heading;
    this.content = content;
    await this.updateComplete;
    const dialog = this.dialog();
    if (!dialog.open) dialog.showModal();
  }

  dialog() {
    return /** @type {HTMLDialogElement} */ (this.querySelector("dialog"));
  }

  render() {
    return html`
      <dialog class="wide" aria-labelledby=${this.headingId} @close=${() => (this.content = nothing)}>
        <div class="row spread">
          <h2 id=${this.headingId}>${this.heading}</h2>
          <button @click=${() => this.dialog().close()}>Close</button>
        </div>
        ${this.content}
      </dialog>
    `;
  }
}

customElements.define("detail-dialog", DetailDialog);
