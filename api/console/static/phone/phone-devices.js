// @ts-check
// <phone-devices>: the choice of microphone and speaker, and how loud they are.

import { html, LitElement, nothing } from "../vendored/lit.js";
import {
  chooseMicrophone,
  chosenMicrophone,
  chooseSpeaker,
  chosenSpeaker,
  listDevices,
  openMicrophone,
} from "./devices.js";
import { phoneStyle } from "./phone-style.js";

const LEVELS_EVERY_MS = 100;

export class PhoneDevices extends LitElement {
  static styles = phoneStyle;
  static properties = {
    call: { attribute: false },
    speaker: { attribute: false },
    devices: { state: true },
    problem: { state: true },
  };

  constructor() {
    super();
    /** @type {import("./phone-call.js").PhoneCall | null} */
    this.call = null;
    /** @type {HTMLAudioElement | null} */
    this.speaker = null;
    /** @type {Awaited<ReturnType<typeof listDevices>>} */
    this.devices = { microphones: [], speakers: [] };
    this.problem = "";
    this.timer = 0;
  }

  connectedCallback() {
    super.connectedCallback();
    this.timer = window.setInterval(() => this.showLevels(), LEVELS_EVERY_MS);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.clearInterval(this.timer);
  }

  showLevels() {
    for (const [name, meter] of Object.entries({
      input: this.call?.inputMeter,
      output: this.call?.outputMeter,
    })) {
      const shown = this.renderRoot.querySelector(`meter[name="${name}"]`);
      if (shown instanceof HTMLMeterElement) shown.value = meter?.level() ?? 0;
    }
  }

  /** @param {Event} event */
  async open({ target }) {
    if (!(/** @type {HTMLDetailsElement} */ (target).open) || !navigator.mediaDevices) return;
    this.devices = await listDevices();
  }

  /** @param {Event} event */
  async changeMicrophone({ target }) {
    chooseMicrophone(/** @type {HTMLSelectElement} */ (target).value);
    await this.attempt(async () => {
      if (this.call?.microphone) await this.call.replaceMicrophone(await openMicrophone());
    });
  }

  /** @param {Event} event */
  async changeSpeaker({ target }) {
    const id = /** @type {HTMLSelectElement} */ (target).value;
    chooseSpeaker(id);
    await this.attempt(async () => await this.speaker?.setSinkId?.(id));
  }

  /** @param {() => Promise<void>} work */
  async attempt(work) {
    try {
      this.problem = "";
      await work();
    } catch (error) {
      this.problem = error instanceof Error ? error.message : `${error}`;
    }
  }

  render() {
    const { microphones, speakers } = this.devices;
    return html`
      <details @toggle=${this.open}>
        <summary>Microphone and speaker</summary>
        <div>
          ${this.problem ? html`<p role="alert" class="problem">${this.problem}</p>` : nothing}
          <label>Microphone
            <select @change=${this.changeMicrophone}>${options(microphones, chosenMicrophone())}</select>
          </label>
          <label>Input level <meter name="input" min="0" max="1" value="0"></meter></label>
          ${speakers.length
            ? html`<label>Speaker
                <select @change=${this.changeSpeaker}>${options(speakers, chosenSpeaker())}</select>
              </label>`
            : nothing}
          <label>Output level <meter name="output" min="0" max="1" value="0"></meter></label>
        </div>
      </details>
    `;
  }
}

/**
 * @param {import("./devices.js").Device[]} devices
 * @param {string} chosen
 */
function options(devices, chosen) {
  return [{ id: "", label: "The browser's choice" }, ...devices].map(
    ({ id, label }) => html`<option value=${id} ?selected=${id === chosen}>${label}</option>`,
  );
}

customElements.define("phone-devices", PhoneDevices);
