// @ts-check
// A call's outcome and faults as tags; a fault leads to the page of its code.

import { html } from "../vendored/lit.js";
import { faultsOf, outcomeOf } from "./outcome.js";

/** @param {Parameters<typeof outcomeOf>[0]} call */
export function renderOutcome(call) {
  const { text, kind } = outcomeOf(call);
  return html`<span class="tag ${kind}">${text}</span> ${renderFaults(call)}`;
}

/** @param {Parameters<typeof faultsOf>[0]} call */
export function renderFaults(call) {
  return faultsOf(call).map(
    ({ text, code }) => html`<a class="tag bad" href="/docs/errors/${code}" target="_blank" rel="noopener">${text}</a> `,
  );
}
