// @ts-check
// <switchroom-phone>: the phone of an agent. Its `server` is set by the page that embeds it.

import { html, LitElement, nothing } from "../vendored/lit.js";
import { CallControl, partyOf, placeOf } from "../phone/call-control.js";
import { openMicrophone } from "../phone/devices.js";
import { PhoneCall } from "../phone/phone-call.js";
import { phoneStyle } from "../phone/phone-style.js";
import { Registration } from "../phone/registration.js";
import { Ringtone } from "../phone/ringtone.js";
import { Tabs } from "../phone/tabs.js";
import "../phone/phone-actions.js";
import "../phone/phone-devices.js";

const TICK_MS = 1_000;
/** @typedef {import("../phone/server.js").PhoneServer} PhoneServer */

export class SwitchroomPhone extends LitElement {
  static styles = phoneStyle;
  static properties = {
    agent: {},
    server: { attribute: false },
    login: { state: true },
    loginText: { state: true },
    problem: { state: true },
    call: { state: true },
    endText: { state: true },
    isDialing: { state: true },
  };

  constructor() {
    super();
    this.agent = "";
    /** @type {PhoneServer | null} */
    this.server = null;
    /** @type {import("../phone/registration.js").LoginState} */
    this.login = "off";
    this.loginText = "You are offline.";
    this.problem = "";
    /** @type {PhoneCall | null} */
    this.call = null;
    this.endText = "";
    this.isDialing = false;
    /** @type {Promise<string> | null} the call that this phone has requested */
    this.requested = null;
    this.dialled = ""; // the party of that call; the server calls this phone from a number of the account
    /** @type {AudioContext | null} */
    this.audio = null;
    this.speaker = new Audio();
    this.ringtone = new Ringtone(() => this.context());
    /** @type {Registration | null} */
    this.registration = null;
    /** @type {Tabs | null} */
    this.tabs = null;
    this.timer = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    this.tabs = new Tabs((leg) => this.call?.leg === leg && this.call.stopRinging());
    this.timer = window.setInterval(() => void this.tick(), TICK_MS);
    window.addEventListener("beforeunload", this.warn);
    window.addEventListener("pagehide", this.leave);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("beforeunload", this.warn);
    window.removeEventListener("pagehide", this.leave);
    window.clearInterval(this.timer);
    this.tabs?.close();
    this.leave();
  }

  /** Follow the party that is dialled, which answers after this phone. */
  async tick() {
    const { call, control } = this;
    if (call?.isDialling && call.state === "talking" && control !== null) {
      call.isDialling = await control.isDialling(placeOf(call.leg)).catch(() => false);
    }
    if (call !== null) this.requestUpdate();
  }

  /** Let the browser ask whether a page with a call is really to be left: the call would end. */
  warn = (/** @type {BeforeUnloadEvent} */ event) => {
    if (this.call?.state === "talking") event.preventDefault();
  };

  leave = () => {
    this.call?.hangUp();
    this.goOffline();
  };

  /** @returns {AudioContext} */
  context() {
    this.audio ??= new AudioContext();
    void this.audio.resume();
    return this.audio;
  }

  get control() {
    return this.server === null ? null : new CallControl(this.server, this.agent);
  }

  /** Log in; the click that leads here also lets the browser play sound. */
  async goOnline() {
    if (this.server === null || this.registration !== null) return;
    this.problem = "";
    this.context();
    try {
      (await openMicrophone()).getTracks().forEach((track) => track.stop());
    } catch (error) {
      this.problem = textOf(error);
      return;
    }
    const registration = new Registration(
      this.server,
      (state, text) => this.follow(state, text),
      (event) => void this.take(event),
    );
    registration.hasCall = () => this.call !== null;
    this.registration = registration;
    await registration.start();
  }

  goOffline() {
    this.registration?.stop();
    this.registration = null;
  }

  /**
   * @param {import("../phone/registration.js").LoginState} state
   * @param {string} text
   */
  follow(state, text) {
    if (state === "ready" && this.login === "lost") this.call?.refresh();
    this.login = state;
    this.loginText = text;
    this.dispatchEvent(new CustomEvent("phone-state", { detail: { state, text } }));
  }

  /** @param {any} event of the library: a call that begins */
  async take(event) {
    if (this.call !== null) {
      event.session.terminate({ status_code: 486, reason_phrase: "Busy Here" });
      return;
    }
    const call = new PhoneCall(event, () => this.context(), this.speaker, () => this.change());
    this.call = call;
    this.endText = "";
    if (await this.isRequested(call)) {
      call.peer = this.dialled || call.peer;
      this.dialled = "";
      call.isDialling = true;
      await this.answer();
    } else if (call.state === "ringing") {
      this.ringtone.start();
      this.dispatchEvent(new CustomEvent("phone-ringing", { detail: { from: call.peer, leg: call.leg } }));
    }
    this.change();
  }

  /**
   * Return whether an incoming call is the one that this tab has requested: the server calls all.
   * @param {PhoneCall} call
   */
  async isRequested(call) {
    if (this.requested === null || !call.leg) return false;
    try {
      return placeOf(call.leg).callId === (await this.requested);
    } catch {
      return false;
    } finally {
      this.requested = null;
    }
  }

  change() {
    const { call } = this;
    if (call !== null && call.state !== "ringing") this.ringtone.stop();
    if (call?.state === "ended") {
      this.endText = call.endText;
      this.call = null;
      this.dispatchEvent(new CustomEvent("phone-ended", { detail: { reason: call.endText } }));
    }
    this.requestUpdate();
  }

  async answer() {
    const { call, registration } = this;
    if (call === null) return;
    this.ringtone.stop();
    try {
      const microphone = await openMicrophone();
      if (call.state !== "ringing") {
        microphone.getTracks().forEach((track) => track.stop());
        return;
      }
      call.answer(microphone, registration?.credentials?.iceServers ?? []);
    } catch (error) {
      this.problem = textOf(error);
    }
  }

  reject() {
    if (this.call === null) return;
    this.tabs?.reject(this.call.leg);
    this.call.hangUp();
  }

  /** @param {SubmitEvent} event */
  async dial(event) {
    event.preventDefault();
    const typed = `${new FormData(/** @type {HTMLFormElement} */ (event.target)).get("party") ?? ""}`;
    if (typed.trim()) await this.callTo(typed);
  }

  /**
   * Call a number or an agent.
   * @param {string} typed
   */
  async callTo(typed) {
    const { control } = this;
    if (control === null) return;
    this.context();
    this.problem = "";
    this.isDialing = true;
    this.dialled = typed.trim();
    this.requested = control.dial(partyOf(typed));
    try {
      await this.requested;
    } catch (error) {
      this.problem = textOf(error);
      this.requested = null;
    } finally {
      this.isDialing = false;
    }
  }

  render() {
    const isOnline = this.registration !== null;
    return html`
      <section aria-label="Phone">
        <div class="row spread">
          <p role="status" class="dot ${this.login}">${this.loginText}</p>
          <button @click=${isOnline ? this.goOffline : this.goOnline} ?disabled=${this.call !== null}>
            ${isOnline ? "Go offline" : "Go online"}
          </button>
        </div>
        ${this.problem ? html`<p role="alert" class="problem">${this.problem}</p>` : nothing}
        <div aria-live="assertive">${this.call ? this.renderCall(this.call) : this.renderIdle(isOnline)}</div>
        ${this.call?.state === "talking"
          ? html`<phone-actions .call=${this.call} .control=${this.control}></phone-actions>`
          : nothing}
        <phone-devices .call=${this.call} .speaker=${this.speaker}></phone-devices>
      </section>
    `;
  }

  /** @param {boolean} isOnline */
  renderIdle(isOnline) {
    const ended = this.endText ? html`<p>${this.endText}</p>` : nothing;
    if (!this.control?.isAvailable) return ended;
    return html`
      ${ended}
      <form class="row" @submit=${this.dial}>
        <label class="grow">Number or agent
          <input name="party" type="text" autocomplete="off" spellcheck="false" required />
        </label>
        <button class="primary" ?disabled=${!isOnline || this.login !== "ready" || this.isDialing}>Call</button>
      </form>
    `;
  }

  /** @param {PhoneCall} call */
  renderCall(call) {
    if (call.state === "ringing") {
      return html`
        <h2>${call.peer} is calling</h2>
        <div class="row">
          <button class="primary" @click=${this.answer}>Answer</button>
          <button class="danger" @click=${this.reject}>Reject</button>
        </div>
      `;
    }
    return html`
      <div class="row spread">
        <div><h2>${call.peer}</h2><p>${call.text}</p></div>
        <button class="danger" @click=${() => call.hangUp()}>Hang up</button>
      </div>
    `;
  }
}

/** @param {unknown} error */
function textOf(error) {
  return error instanceof Error ? error.message : `${error}`;
}

customElements.define("switchroom-phone", SwitchroomPhone);
