// @ts-check
// <call-controls>: the buttons of a live call, each only if its scope and the state allow it.
//
// Fires `changed` after a request.

import { html, nothing } from "../vendored/lit.js";
import { callPath, coachingOf, conferenceOf, controllableLegs, possible, sourceAndCustomer, targetOf, transferOf } from "../ladder/controls.js";
import { ConsoleElement } from "../lib/console-element.js";
import { agentId, may } from "../lib/page.js";
import { post } from "../lib/rest.js";
import "./confirm-dialog.js";
import "./form-dialog.js";
import "./problem.js";

const VOICE = "/srmain/voice";
/** @type {import("../forms/values.js").Field} */
const TARGET = { name: "target", label: "Party", required: true, hint: "A number, or agent:ID." };
/** @type {Record<string, {heading: string, submit: string, fields: import("../forms/values.js").Field[]}>} */
const FORMS = {
  dial: { heading: "Call a party into the call", submit: "Call", fields: [TARGET] },
  transfer: {
    heading: "Transfer the other party",
    submit: "Transfer",
    fields: [
      TARGET,
      {
        name: "mode",
        label: "Kind",
        type: "select",
        required: true,
        options: [
          { value: "attended", label: "attended: talk to the target first" },
          { value: "blind", label: "blind: leave at once" },
        ],
      },
    ],
  },
  conference: { heading: "Add a party to a conference", submit: "Add", fields: [TARGET] },
};

export class CallControls extends ConsoleElement {
  static properties = { call: { attribute: false }, error: { state: true }, busy: { state: true }, form: { state: true } };

  constructor() {
    super();
    /** @type {any} */
    this.call = null;
    /** @type {unknown} */
    this.error = null;
    this.busy = false;
    /** @type {string} */
    this.form = "dial";
  }

  get situation() {
    return { call: this.call, agentId, may };
  }

  render() {
    if (!this.call || this.call.endedMs) return nothing;
    const can = possible(this.situation);
    const path = callPath(this.call.callId);
    const button = (/** @type {boolean} */ isPossible, /** @type {string} */ text, /** @type {() => unknown} */ run, kind = "") =>
      isPossible ? html`<button class=${kind} ?disabled=${this.busy} @click=${run}>${text}</button>` : nothing;
    return html`
      <section aria-labelledby="controls" class="card stack">
        <h2 id="controls">Control</h2>
        <console-problem .error=${this.error}></console-problem>
        <div class="row">
          ${button(can.dial, "Call a party", () => this.open("dial"))}
          ${button(can.transfer, "Transfer", () => this.open("transfer"))}
          ${button(can.completeTransfer, "Complete the transfer", () => this.endTransfer("complete"))}
          ${button(can.cancelTransfer, "Cancel the transfer", () => this.endTransfer("cancel"))}
          ${button(can.conference, "Conference", () => this.open("conference"))}
          ${["start", "pause", "resume", "stop"].map((each) =>
            button(
              /** @type {Record<string, boolean>} */ (can)[`${each}Recording`] ?? false,
              `${each[0]?.toUpperCase()}${each.slice(1)} recording`,
              () => this.send(`${path}/recording/${each}`, {}),
            ),
          )}
          ${button(can.hangUp, "Hang up the call", () => this.hangUp(), "danger")}
        </div>
        ${can.hangUpLeg ? this.renderLegs(can, button) : nothing}
        <confirm-dialog></confirm-dialog>
        <form-dialog heading=${FORMS[this.form]?.heading ?? ""} submit=${FORMS[this.form]?.submit ?? ""}
          .fields=${FORMS[this.form]?.fields ?? []}
          .save=${(/** @type {any} */ values) => this.saveForm(values)}></form-dialog>
      </section>
    `;
  }

  /**
   * @param {ReturnType<typeof possible>} can
   * @param {(isPossible: boolean, text: string, run: () => unknown, kind?: string) => unknown} button
   */
  renderLegs(can, button) {
    const path = callPath(this.call.callId);
    const legs = controllableLegs(this.situation);
    if (!legs.length) return nothing;
    return html`
      <ul class="legs">
        ${legs.map((/** @type {any} */ leg) => {
          const body = { channelId: leg.channelId };
          const coaching = can.coach ? coachingOf(this.call, leg.channelId) : null;
          return html`
            <li class="row middle" data-leg=${leg.channelId}>
              <b>${leg.party}</b>
              ${leg.held || leg.held_by_phone ? html`<span class="tag bad">on hold</span>` : nothing}
              ${leg.muted ? html`<span class="tag warn">muted</span>` : nothing}
              ${button(can.hold && !leg.held, "Hold", () => this.send(`${path}/hold`, body))}
              ${button(can.hold && leg.held, "Resume", () => this.send(`${path}/unhold`, body))}
              ${button(can.mute && !leg.muted, "Mute", () => this.send(`${path}/mute`, body))}
              ${button(can.mute && Boolean(leg.muted), "Unmute", () => this.send(`${path}/unmute`, body))}
              ${coaching?.isCoaching ? html`<span class="tag accent">coaches</span>` : nothing}
              ${button(coaching !== null, coaching?.isCoaching ? "Stop coaching" : "Coach", () => this.coach(leg, coaching?.coached ?? ""))}
              ${button(true, "Hang up", () => this.send(`${path}/hangup`, body), "danger")}
            </li>
          `;
        })}
      </ul>
    `;
  }

  hangUp() {
    const dialog = /** @type {import("./confirm-dialog.js").ConfirmDialog} */ (this.querySelector("confirm-dialog"));
    void dialog.ask({
      heading: "Hang up the call?",
      text: "All parties are disconnected.",
      action: "Hang up the call",
      run: async () => {
        await post(`${callPath(this.call.callId)}/hangup`);
        this.dispatchEvent(new CustomEvent("changed"));
      },
    });
  }

  /** @param {string} form */
  async open(form) {
    this.form = form;
    await this.updateComplete;
    const dialog = /** @type {import("./form-dialog.js").FormDialog} */ (this.querySelector("form-dialog"));
    await dialog.open(form === "transfer" ? { mode: "attended" } : {});
  }

  /** @param {{target: string, mode?: string}} values */
  async saveForm({ target, mode }) {
    const { callId } = this.call;
    const pair = sourceAndCustomer(this.situation);
    if (this.form === "dial") await post(`${VOICE}/dial`, { callId, target });
    else if (pair) await post(...sessionRequest(this.form, this.call, pair, target, mode));
    else throw new Error("There is no agent in the call whom the other party could leave.");
    this.dispatchEvent(new CustomEvent("changed"));
    return {};
  }

  /** @param {"complete" | "cancel"} action */
  async endTransfer(action) {
    const transfer = transferOf(this.call);
    const by = agentId || transfer.sourceAgentId;
    const body = { callId: this.call.callId, transferSessionId: transfer.transferSessionId };
    const more = action === "complete"
      ? { completedByAgentId: by, reason: "manual_complete" }
      : { cancelledByAgentId: by, reason: "source_cancel" };
    await this.send(`${VOICE}/transfer/${action}`, { ...body, ...more });
  }

  /**
   * @param {any} leg of the coach: only the agent in the call hears it from now on
   * @param {string} coached the agent's leg; "" if all hear all again
   */
  async coach(leg, coached) {
    await this.send(`${VOICE}/conference/coach`, {
      callId: this.call.callId,
      conferenceSessionId: conferenceOf(this.call).conferenceSessionId,
      channelId: leg.channelId,
      ...(coached ? { coachedChannelId: coached } : {}),
    });
  }

  /**
   * @param {string} path
   * @param {unknown} body
   */
  async send(path, body) {
    this.busy = true;
    this.error = null;
    try {
      await post(path, body);
      this.dispatchEvent(new CustomEvent("changed"));
    } catch (error) {
      this.error = error;
    }
    this.busy = false;
  }
}

/**
 * @param {string} form
 * @param {any} call
 * @param {{source: any, customer: any}} pair
 * @param {string} text
 * @param {string} [mode]
 * @returns {[string, any]}
 */
function sessionRequest(form, call, { source, customer }, text, mode) {
  const common = {
    callId: call.callId,
    sourceAgentId: source.agent_id,
    customerChannelId: customer.channelId,
    sourceChannelId: source.channelId,
  };
  const target = targetOf(text);
  if (form === "transfer") return [`${VOICE}/transfer/init`, { ...common, transferMode: mode, target }];
  const known = conferenceOf(call)?.conferenceSessionId;
  const party = target.kind === "agent" ? { targetAgentIds: [target.agentId] } : { targetExternalNumber: target.number };
  const session = known ? { conferenceSessionId: known } : {};
  return [`${VOICE}/conference/add-members`, { ...common, ...session, ...party, requestedByAgentId: source.agent_id }];
}

customElements.define("call-controls", CallControls);
