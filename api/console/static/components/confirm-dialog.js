// @ts-check
// <confirm-dialog>: a question before an action that cannot be undone.
//
//   const isDone = await dialog.ask({
//     heading: "Delete Ada?", text: "Calls to her number are rejected.", action: "Delete",
//     run: () => del(path),
//   });

import { html } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import "./problem.js";

/** @typedef {{heading: string, text: unknown, action: string, run: () => Promise<unknown>, isSafe?: boolean}} Question */

/** @type {Question} */
const NONE = { heading: "", text: "", action: "", run: async () => null };
let serial = 0;

export class ConfirmDialog extends ConsoleElement {
  static properties = { question: { state: true }, error: { state: true }, busy: { state: true } };

  constructor() {
    super();
    serial += 1;
    this.headingId = `confirm-${serial}`;
    this.question = NONE;
    /** @type {unknown} */
    this.error = null;
    this.busy = false;
    /** @type {(isDone: boolean) => void} */
    this.resolve = () => {};
  }

  /**
   * Ask, and run the action if it is confirmed; returns whether that succeeded.
   * @param {Question} question
   * @returns {Promise<boolean>}
   */
  async ask(question) {
    this.question = question;
    this.error = null;
    await this.updateComplete;
    this.dialog().showModal();
    return await new Promise((resolve) => (this.resolve = resolve));
  }

  dialog() {
    return /** @type {HTMLDialogElement} */ (this.querySelector("dialog"));
  }

  render() {
    const { heading, text, action, isSafe } = this.question;
    return html`
      <dialog aria-labelledby=${this.headingId} @close=${() => this.resolve(false)}>
        <div class="stack">
          <h2 id=${this.headingId}>${heading}</h2>
          <p>${text}</p>
          <console-problem .error=${this.error}></console-problem>
          <div class="row">
            <button class=${isSafe ? "primary" : "danger"} ?disabled=${this.busy} @click=${this.run}>${action}</button>
            <button autofocus @click=${() => this.dialog().close()}>Cancel</button>
          </div>
        </div>
      </dialog>
    `;
  }

  async run() {
    this.busy = true;
    this.error = null;
    try {
      await this.question.run();
      this.resolve(true);
      this.dialog().close();
    } catch (error) {
      this.error = error;
    } finally {
      this.busy = false;
    }
  }
}

customElements.define("confirm-dialog", ConfirmDialog);
