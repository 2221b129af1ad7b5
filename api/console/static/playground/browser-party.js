// @ts-check
// <browser-party>: the phone of this browser, as an agent of the account that is made if necessary.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { AGENTS, ensureBrowserAgent } from "../lib/browser-agent.js";
import { RestError, get, post } from "../lib/rest.js";

/**
 * @typedef {import("../components/phone.js").SwitchroomPhone} Phone
 * @typedef {import("../phone/server.js").PhoneServer} PhoneServer
 */

const AGENT = "playground";
const READY_MS = 20_000; // a PBX that is there accepts a login in a second
const RETRIED_MS = 4_000; // in which the phone tries the next node

export class BrowserParty extends ConsoleElement {
  static properties = { isShown: { state: true } };

  constructor() {
    super();
    this.isShown = false;
    /** @type {PhoneServer} */
    this.server = { createCredentials: () => post(`${AGENTS}/${AGENT}/phone-credentials`), get, post };
  }

  render() {
    if (!this.isShown) return nothing;
    return html`<switchroom-phone .agent=${AGENT} .server=${this.server}></switchroom-phone>`;
  }

  /**
   * Log the phone in; returns the party to call.
   * @returns {Promise<string>}
   */
  async goOnline() {
    await Promise.all([ensureBrowserAgent(AGENT, "Playground"), import("../components/phone.js")]);
    this.isShown = true;
    await this.updateComplete;
    const phone = this.phone();
    if (phone.login !== "ready") {
      const ready = isReady(phone);
      await phone.goOnline();
      if (phone.problem) throw new RestError(0, "", phone.problem);
      await ready;
    }
    return `agent:${AGENT}`;
  }

  /**
   * Let the phone answer a call by itself: whoever has requested it is at the phone.
   * @param {Promise<string>} callId
   */
  expect(callId) {
    this.phone().requested = callId;
  }

  /** @returns {Phone} */
  phone() {
    return /** @type {Phone} */ (this.querySelector("switchroom-phone"));
  }
}

/**
 * Wait until a phone can be called; where its login fails, only as long as another one may take.
 * @param {Phone} phone
 */
function isReady(phone) {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new RestError(0, "", `The phone cannot log in: ${phone.loginText}`));
    let timer = window.setTimeout(fail, READY_MS);
    phone.addEventListener("phone-state", () => {
      if (phone.login === "connecting") return;
      window.clearTimeout(timer);
      if (phone.login === "ready") resolve(undefined);
      else timer = window.setTimeout(fail, RETRIED_MS);
    });
  });
}

customElements.define("browser-party", BrowserParty);
