// @ts-check
// <secret-values>: secrets that are shown once, each with a button that copies it.

import { html } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";

/** @typedef {{label: string, value: string}} Secret */

export class SecretValues extends ConsoleElement {
  static properties = { values: { attribute: false }, copied: { state: true } };

  constructor() {
    super();
    /** @type {Secret[]} */
    this.values = [];
    this.copied = "";
  }

  render() {
    return html`
      <p class="notice">Store this now: it is not shown again, here or elsewhere.</p>
      <div class="stack">
        ${this.values.map(
          (each) => html`
            <div>
              <b>${each.label}</b>
              <div class="secret">
                <code>${each.value}</code>
                <button aria-label="Copy ${each.label}" @click=${(/** @type {Event} */ event) => this.copy(each, event)}>
                  Copy
                </button>
              </div>
            </div>
          `,
        )}
      </div>
      <p role="status" class="quiet">${this.copied}</p>
    `;
  }

  /**
   * @param {Secret} secret
   * @param {Event} event
   */
  async copy(secret, event) {
    const button = /** @type {HTMLElement} */ (event.currentTarget);
    try {
      await navigator.clipboard.writeText(secret.value);
      this.copied = `${secret.label} is copied.`;
    } catch {
      // Without HTTPS a browser has no clipboard: select the text, for the person to copy.
      getSelection()?.selectAllChildren(/** @type {Element} */ (button.previousElementSibling));
      this.copied = `${secret.label} is selected: copy it.`;
    }
  }
}

customElements.define("secret-values", SecretValues);
