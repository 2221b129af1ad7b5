// @ts-check
// <webhook-attempt>: an attempt to reach a server, with request and response, and a retry.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { pretty } from "../lib/json.js";
import { may } from "../lib/page.js";
import { get, post } from "../lib/rest.js";
import "./problem.js";

const LOG = "/srmain/voice/webhooks";

export class WebhookAttempt extends ConsoleElement {
  static properties = {
    attempt: { attribute: false },
    details: { state: true },
    retried: { state: true },
    error: { state: true },
    busy: { state: true },
  };

  constructor() {
    super();
    /** @type {any} a summary, as timelines have it */
    this.attempt = null;
    /** @type {any} */
    this.details = null;
    /** @type {any} the response of a retry */
    this.retried = null;
    /** @type {unknown} */
    this.error = null;
    this.busy = false;
  }

  /** @param {Map<string, any>} changed */
  willUpdate(changed) {
    if (changed.has("attempt") && changed.get("attempt")?.id !== this.attempt?.id) {
      this.details = this.retried = this.error = null;
      void this.load();
    }
  }

  async load() {
    if (!may("webhooks")) return;
    const { id } = this.attempt;
    try {
      const details = await get(`${LOG}/${id}`);
      if (id === this.attempt.id) this.details = details;
    } catch (error) {
      this.error = error;
    }
  }

  async retry() {
    this.busy = true;
    this.error = null;
    try {
      this.retried = await post(`${LOG}/${this.attempt.id}/retry`);
      this.dispatchEvent(new CustomEvent("retried", { bubbles: true }));
    } catch (error) {
      this.error = error;
    }
    this.busy = false;
  }

  render() {
    const { attempt, details, retried } = this;
    if (!attempt) return nothing;
    return html`
      <div class="attempt">
        <p>
          <b>Attempt ${attempt.attempt}</b>: ${result(attempt)}
          <code>${attempt.method} ${attempt.url}</code>
          ${attempt.toListener ? html`<span class="tag">sent to a listener</span>` : nothing}
        </p>
        ${details ? exchange(details) : nothing}
        ${may("webhooks") ? html`<button ?disabled=${this.busy} @click=${this.retry}>Send again</button>` : nothing}
        <console-problem .error=${this.error}></console-problem>
        ${retried ? html`<div role="status"><p><b>Sent again</b>: ${result(retried)}</p>${exchange(retried)}</div>` : nothing}
      </div>
    `;
  }
}

/** @param {any} attempt */
function result(attempt) {
  const kind = attempt.outcome === "succeeded" ? "good" : "bad";
  const text = [attempt.status || "no response", attempt.reason].filter(Boolean).join(", ");
  return html`<span class="tag ${kind}">${text}</span> in ${attempt.tookMs} ms`;
}

/** @param {any} details */
function exchange(details) {
  return html`
    <div class="pair">
      ${side("Request", details.requestHeaders, details.requestBody)}
      ${side("Response", details.responseHeaders, details.responseBody)}
    </div>
  `;
}

/**
 * @param {string} title
 * @param {Record<string, string>} headers
 * @param {{text: string, truncated?: boolean}} body
 */
function side(title, headers, body) {
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  return html`
    <div>
      <h3>${title}</h3>
      <details><summary>${lines.length} headers</summary><pre tabindex="0">${lines.join("\n")}</pre></details>
      <pre tabindex="0">${pretty(body?.text ?? "") || "(empty)"}</pre>
      ${body?.truncated ? html`<p class="hint">The log has only the beginning.</p>` : nothing}
    </div>
  `;
}

customElements.define("webhook-attempt", WebhookAttempt);
