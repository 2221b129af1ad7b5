// @ts-check
// <phone-actions>: what a person does with a call that is connected.

import { html, LitElement, nothing } from "../vendored/lit.js";
import { duration } from "../lib/format.js";
import { partyOf, placeOf } from "./call-control.js";
import { phoneStyle } from "./phone-style.js";

const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "0", "#"];
const TICK_MS = 1_000;

export class PhoneActions extends LitElement {
  static styles = phoneStyle;
  static properties = {
    call: { attribute: false, hasChanged: () => true },
    control: { attribute: false },
    shown: { state: true },
    transfer: { state: true },
    problem: { state: true },
    isBusy: { state: true },
  };

  constructor() {
    super();
    /** @type {import("./phone-call.js").PhoneCall | null} */
    this.call = null;
    /** @type {import("./call-control.js").CallControl | null} */
    this.control = null;
    /** @type {"" | "keypad" | "transfer"} */
    this.shown = "";
    this.transfer = ""; // the id of one that is being talked about
    this.problem = "";
    this.isBusy = false;
    this.timer = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    this.timer = window.setInterval(() => {
      this.requestUpdate();
      void this.watchTransfer();
      void this.watchHold();
    }, TICK_MS);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.clearInterval(this.timer);
  }

  /** @param {"keypad" | "transfer"} name */
  show(name) {
    this.shown = this.shown === name ? "" : name;
  }

  /**
   * Send a request about the call; its failure is shown.
   * @param {(control: import("./call-control.js").CallControl) => Promise<void>} request
   */
  async request(request) {
    if (this.control === null) return;
    this.isBusy = true;
    this.problem = "";
    try {
      await request(this.control);
    } catch (error) {
      this.problem = error instanceof Error ? error.message : `${error}`;
    } finally {
      this.isBusy = false;
    }
  }

  /** @param {SubmitEvent} event */
  async submit(event) {
    event.preventDefault();
    const { call } = this;
    const form = /** @type {HTMLFormElement} */ (event.target);
    const typed = `${new FormData(form).get("target") ?? ""}`;
    const kind = /** @type {HTMLButtonElement | null} */ (event.submitter)?.value ?? "attended";
    if (call === null || !typed.trim()) return;
    const [place, party] = [placeOf(call.leg), partyOf(typed)];
    await this.request(async (control) => {
      if (kind === "add") await control.add(place, party);
      else if (kind === "blind") await control.transfer(place, party, "blind");
      else this.transfer = await control.transfer(place, party, "attended");
    });
  }

  /** A consultation can fail: its target is busy, or does not answer. */
  async watchTransfer() {
    const { call, control, transfer } = this;
    if (!transfer || call === null || control === null) return;
    const text = await control.failureOf(placeOf(call.leg), transfer).catch(() => ""); // the next tick reads again
    if (!text || this.transfer !== transfer) return;
    this.transfer = "";
    this.problem = text;
  }

  /** The other party may come back by itself, or from another page. */
  async watchHold() {
    const { call, control } = this;
    if (call === null || control === null || this.isBusy || !call.heldLeg) return;
    const { heldLeg } = call;
    const isHeld = await control.isHeld(placeOf(call.leg), heldLeg).catch(() => true);
    if (!isHeld && !this.isBusy && call.heldLeg === heldLeg) call.holdLeg("");
  }

  /** @param {import("./phone-call.js").PhoneCall} call */
  async hold(call) {
    const place = placeOf(call.leg);
    if (call.heldLeg) {
      await this.request(async (control) => {
        await control.resume(place, call.heldLeg);
        call.holdLeg("");
      });
    } else if (call.isHeld || !this.isControlled(call)) {
      call.hold(!call.isHeld);
    } else {
      await this.request(async (control) => {
        const held = await control.hold(place);
        if (held) call.holdLeg(held);
        else call.hold(true);
      });
    }
  }

  /** @param {import("./phone-call.js").PhoneCall} call */
  isControlled(call) {
    return Boolean(this.control?.isAvailable) && call.leg !== "";
  }

  async complete() {
    const { call } = this;
    if (call) await this.request((control) => control.complete(placeOf(call.leg), this.transfer));
    this.transfer = "";
  }

  async cancel() {
    const { call } = this;
    if (call) await this.request((control) => control.cancel(placeOf(call.leg), this.transfer));
    this.transfer = "";
  }

  render() {
    const { call } = this;
    if (call === null) return nothing;
    const isControlled = this.isControlled(call);
    const { quality } = call;
    const codec = call.report?.codec ?? "";
    return html`
      <div class="row">
        <button aria-pressed=${call.isMuted} @click=${() => call.mute(!call.isMuted)}>Mute</button>
        <button aria-pressed=${call.isHeld} ?disabled=${this.isBusy} @click=${() => this.hold(call)}>Hold</button>
        <button aria-expanded=${this.shown === "keypad"} @click=${() => this.show("keypad")}>Keypad</button>
        ${isControlled
          ? html`<button aria-expanded=${this.shown === "transfer"} @click=${() => this.show("transfer")}>
              Transfer
            </button>`
          : nothing}
      </div>
      ${this.shown === "keypad" ? this.renderKeypad(call) : nothing}
      ${this.shown === "transfer" && isControlled ? this.renderTransfer() : nothing}
      ${this.problem ? html`<p role="alert" class="problem">${this.problem}</p>` : nothing}
      <p class="quiet">
        ${duration(Date.now() - call.startedAtMs)} ${codec ? html`· ${codec}` : nothing}
        ${quality
          ? html`· network ${quality.text} (${quality.lossPct.toFixed(1)} % lost,
              ${quality.jitterMs.toFixed(0)} ms jitter, ${quality.rttMs.toFixed(0)} ms round trip, MOS
              ${quality.mos.toFixed(1)})`
          : nothing}
      </p>
    `;
  }

  /** @param {import("./phone-call.js").PhoneCall} call */
  renderKeypad(call) {
    return html`
      <p class="pressed" role="status" aria-label="Keys pressed">${call.keys}</p>
      <div class="keys" role="group" aria-label="Keypad" @keydown=${this.typeKey}>
        ${KEYS.map((key) => html`<button @click=${() => call.press(key)}>${key}</button>`)}
      </div>
    `;
  }

  /** @param {KeyboardEvent} event */
  typeKey({ key }) {
    if (KEYS.includes(key)) this.call?.press(key);
  }

  renderTransfer() {
    if (this.transfer) {
      return html`
        <div class="row">
          <button class="primary" ?disabled=${this.isBusy} @click=${this.complete}>Complete transfer</button>
          <button ?disabled=${this.isBusy} @click=${this.cancel}>Back to the caller</button>
        </div>
      `;
    }
    return html`
      <form class="row" @submit=${this.submit}>
        <label class="grow">To number or agent
          <input name="target" type="text" autocomplete="off" spellcheck="false" required />
        </label>
        <button value="attended" ?disabled=${this.isBusy}>Talk first</button>
        <button value="blind" ?disabled=${this.isBusy}>Transfer now</button>
        <button value="add" ?disabled=${this.isBusy}>Add to the call</button>
      </form>
    `;
  }
}

customElements.define("phone-actions", PhoneActions);
