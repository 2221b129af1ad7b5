// @ts-check
// <step-details>: a step of a ladder in full, and the attempts to reach a server for it.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { stringify } from "../lib/json.js";
import "./webhook-attempt.js";

export class StepDetails extends ConsoleElement {
  static properties = {
    step: { attribute: false },
    startMs: { attribute: false },
    isLive: { attribute: false },
  };

  constructor() {
    super();
    /** @type {import("../ladder/model.js").Step | null} */
    this.step = null;
    this.startMs = 0;
    this.isLive = false;
  }

  render() {
    const { step } = this;
    if (!step) return html`<p class="hint">Choose a step to see its details.</p>`;
    const at = ((step.atMs - this.startMs) / 1_000).toFixed(3);
    return html`
      <section class="card" aria-labelledby="step">
        <h2 id="step" aria-live="polite">${at} s: ${step.text}</h2>
        ${step.attempts.map((each) => html`<webhook-attempt .attempt=${each}></webhook-attempt>`)}
        ${step.request && !step.attempts.length
          ? html`<p class="quiet">The log has no attempt of this request${this.isLive ? " yet" : ", or this key may not read it"}.</p>`
          : nothing}
        ${step.details ? html`<details><summary>As JSON</summary><pre tabindex="0">${stringify(step.details, 2)}</pre></details>` : nothing}
      </section>
    `;
  }
}

customElements.define("step-details", StepDetails);
