// @ts-check
// <call-replay>: whether this engine would decide the same now, and at which step it would not.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { count } from "../lib/format.js";
import { get } from "../lib/rest.js";
import "./problem.js";

export class CallReplay extends ConsoleElement {
  static properties = {
    callId: { attribute: false },
    ladder: { attribute: false },
    replay: { state: true },
    error: { state: true },
    busy: { state: true },
  };

  constructor() {
    super();
    this.callId = "";
    /** @type {import("../ladder/model.js").Ladder | null} */
    this.ladder = null;
    /** @type {any} */
    this.replay = null;
    /** @type {unknown} */
    this.error = null;
    this.busy = false;
  }

  async run() {
    this.busy = true;
    this.error = null;
    try {
      this.replay = await get(`/srmain/voice/call/${encodeURIComponent(this.callId)}/replay`);
    } catch (error) {
      this.error = error;
    }
    this.busy = false;
  }

  render() {
    const { replay } = this;
    return html`
      <button ?disabled=${this.busy} @click=${this.run}>Replay with this engine</button>
      <div role="status" class="result">
        <console-problem .error=${this.error}></console-problem>
        ${replay ? this.renderResult(replay) : nothing}
      </div>
    `;
  }

  /** @param {any} replay */
  renderResult(replay) {
    const compared = `${count(replay.compared)} of ${count(replay.steps)} decisions compared`;
    if (replay.isSame) return html`<p class="notice">The engine would decide the same now: ${compared}.</p>`;
    return html`
      <div class="problem">
        <p>The engine would decide otherwise now: ${compared}.</p>
        <ul>
          ${replay.differences.map(
            (/** @type {any} */ each) => html`<li>
              ${each.step ? `Step ${each.step}: ` : ""}${each.detail}
              ${each.atMs ? html`<button class="small" @click=${() => this.show(each.atMs)}>Show</button>` : nothing}
            </li>`,
          )}
        </ul>
      </div>
    `;
  }

  /** @param {number} atMs */
  show(atMs) {
    const step = this.ladder?.steps.find((each) => each.atMs >= atMs);
    if (step) this.dispatchEvent(new CustomEvent("choose", { detail: step.index }));
  }
}

customElements.define("call-replay", CallReplay);
