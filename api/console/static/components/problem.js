// @ts-check
// <console-problem>: why a request failed, with what is allowed and the page of its code.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { RestError } from "../lib/rest.js";

export class ConsoleProblem extends ConsoleElement {
  static properties = { error: { attribute: false } };

  constructor() {
    super();
    /** @type {unknown} */
    this.error = null;
  }

  render() {
    const { error } = this;
    if (error === null || error === undefined) return nothing;
    const problem = error instanceof RestError ? error : new RestError(0, "", String(error));
    return html`
      <div class="problem" role="alert">
        <p>
          ${problem.errors.length ? "The server rejected this:" : problem.message}
          ${problem.code
            ? html`<a href="/docs/errors/${problem.code}" target="_blank" rel="noopener"
                >${problem.code}</a
              >`
            : nothing}
        </p>
        ${problem.errors.length
          ? html`<ul>
              ${problem.errors.map(
                (each) => html`<li><code>${each.path || "request"}</code>: ${each.message}</li>`,
              )}
            </ul>`
          : nothing}
      </div>
    `;
  }
}

customElements.define("console-problem", ConsoleProblem);
