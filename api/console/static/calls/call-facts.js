// @ts-check
// What is known of a call, beside its ladder.

import { html, nothing } from "../vendored/lit.js";
import { dateTime, duration } from "../lib/format.js";
import { stringify } from "../lib/json.js";
import { outcomeOf } from "../lib/outcome.js";
import { stateTag } from "./live-calls.js";

/**
 * @param {any} call with the answer status of its record
 * @param {boolean} hasFaults one that was answered is not green then
 */
export function renderFacts(call, hasFaults) {
  const { text, kind } = call.endedMs ? outcomeOf(call) : stateTag(call);
  const ended = call.endedMs ? `, ${duration(call.endedMs - call.createdMs)}` : "";
  return html`
    <dl class="facts card">
      <dt>Call</dt><dd><code>${call.callId}</code></dd>
      <dt>From</dt><dd>${call.from}${call.callerName ? ` (${call.callerName})` : ""}</dd>
      <dt>To</dt><dd>${call.to}</dd>
      <dt>${call.endedMs ? "Outcome" : "State"}</dt>
      <dd>
        <span class="tag ${hasFaults && kind === "good" ? "warn" : kind}">${text}</span>
        ${call.direction}${call.endedBy ? `, ended by ${call.endedBy}` : ""}
      </dd>
      <dt>Began</dt><dd>${dateTime(call.createdMs)}${ended}</dd>
      ${call.agents?.length ? html`<dt>Agents</dt><dd>${call.agents.join(", ")}</dd>` : nothing}
      ${call.customData ? html`<dt>Custom data</dt><dd><code>${stringify(call.customData)}</code></dd>` : nothing}
    </dl>
  `;
}
