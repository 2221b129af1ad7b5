// @ts-check
// <playground-page>: write a tree or a flow, and let a call run it.

import { html, live, nothing } from "../vendored/lit.js";
import { nodeAt } from "../editor/json-place.js";
import { scan } from "../editor/json-scan.js";
import { readFlow, saveFlow } from "../flows/flow-rest.js";
import { SAMPLES, findSample } from "../flows/samples.js";
import { readFilters } from "../lib/address.js";
import { ConsoleElement } from "../lib/console-element.js";
import { parse, stringify } from "../lib/json.js";
import { may } from "../lib/page.js";
import { RestError, get, post } from "../lib/rest.js";
import "../components/problem.js";
import "../flows/flow-document.js";
import "./browser-party.js";
import "./call-events.js";

const CALL = "/srmain/voice/call";
const STORED_AS = "playground"; // the flow that a flow in the editor becomes, since calls run stored ones
const RING_S = 30;

/**
 * @typedef {"browser" | "number" | "agent"} PartyKind
 * @typedef {import("./browser-party.js").BrowserParty} BrowserParty
 */

export class PlaygroundPage extends ConsoleElement {
  static properties = {
    text: { state: true },
    sample: { state: true },
    numbers: { state: true },
    agents: { state: true },
    kind: { state: true },
    callId: { state: true },
    error: { state: true },
    isBusy: { state: true },
  };

  constructor() {
    super();
    const { sample = "say", flow = "" } = readFilters(["sample", "flow"]);
    this.sample = flow ? "" : sample;
    this.flow = flow;
    this.text = flow ? "" : findSample(sample).text;
    /** @type {string[]} */
    this.numbers = [];
    /** @type {{agentId: string, name: string}[]} */
    this.agents = [];
    /** @type {PartyKind} */
    this.kind = may("agents:write") ? "browser" : "number";
    this.callId = "";
    /** @type {unknown} */
    this.error = null;
    this.isBusy = false;
  }

  connectedCallback() {
    super.connectedCallback();
    void this.load();
  }

  async load() {
    await this.attempt(async () => {
      if (this.flow) this.text = stringify((await readFlow(this.flow)).document, 2);
      if (may("routes:read")) {
        const { data } = await get("/srmain/voice/numbers", { limit: 1_000 });
        this.numbers = data.map((/** @type {any} */ each) => each.number);
      }
      if (may("agents:read")) this.agents = (await get("/srmain/voice/agents", { limit: 1_000 })).data;
    });
  }

  get isFlow() {
    return nodeAt(scan(this.text).root, ["nodes"]) !== null;
  }

  render() {
    return html`
      <p class="quiet">
        Write what a call does, and call a phone to hear it. A flow is stored as
        <code>${STORED_AS}</code>; a tree is part of the call, and is not stored.
      </p>
      <div class="row flow-buttons">
        <label>
          Start from
          <select @change=${this.chooseSample}>
            ${this.flow ? html`<option value="" .selected=${this.sample === ""}>flow ${this.flow}</option>` : nothing}
            ${SAMPLES.map(
              (each) => html`<option value=${each.name} .selected=${live(each.name === this.sample)}>${each.title}</option>`,
            )}
          </select>
        </label>
      </div>
      <flow-document
        class="playground"
        label="Tree or flow"
        check-id=${STORED_AS}
        .text=${this.text}
        @change=${(/** @type {CustomEvent} */ event) => (this.text = event.detail.value)}
      ></flow-document>
      <h2>Call</h2>
      ${this.renderForm()}
      <console-problem .error=${this.error}></console-problem>
      <browser-party></browser-party>
      <call-events call-id=${this.callId}></call-events>
    `;
  }

  renderForm() {
    return html`
      <form class="card row" @submit=${this.start}>
        <label>
          To
          <select name="kind" @change=${this.chooseKind}>
            ${may("agents:write")
              ? html`<option value="browser" .selected=${live(this.kind === "browser")}>this browser</option>`
              : nothing}
            <option value="number" .selected=${live(this.kind === "number")}>a number</option>
            <option value="agent" .selected=${live(this.kind === "agent")}>an agent</option>
          </select>
        </label>
        ${this.renderParty()}
        <label>
          Shown number
          ${this.numbers.length
            ? html`<select name="from">
                ${this.numbers.map((each) => html`<option>${each}</option>`)}
              </select>`
            : html`<input name="from" type="tel" required maxlength="64" />`}
        </label>
        <button class="primary" ?disabled=${this.isBusy}>Call</button>
      </form>
    `;
  }

  renderParty() {
    switch (this.kind) {
      case "browser":
        return nothing;
      case "number":
        return html`<label>
          Number
          <input name="to" type="tel" required maxlength="64" placeholder="+4722222222" autocomplete="tel" />
        </label>`;
      case "agent":
        return html`<label>
          Agent
          <select name="to" required>
            ${this.agents.map(
              ({ agentId, name }) =>
                html`<option value="agent:${agentId}">${name ? `${agentId} (${name})` : agentId}</option>`,
            )}
          </select>
        </label>`;
    }
  }

  /** @param {Event} event */
  chooseSample(event) {
    this.sample = /** @type {HTMLSelectElement} */ (event.target).value;
    if (this.sample) this.text = findSample(this.sample).text;
    else void this.load();
  }

  /** @param {Event} event */
  chooseKind(event) {
    this.kind = /** @type {PartyKind} */ (/** @type {HTMLSelectElement} */ (event.target).value);
  }

  /** @param {SubmitEvent} event */
  async start(event) {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const from = String(form.get("from"));
    await this.attempt(async () => {
      if (this.kind === "browser") {
        const browser = /** @type {BrowserParty} */ (this.querySelector("browser-party"));
        const call = this.call(await browser.goOnline(), from);
        browser.expect(call);
        this.callId = await call;
      } else {
        this.callId = await this.call(String(form.get("to")), from);
      }
      await this.updateComplete;
      this.querySelector("call-events")?.scrollIntoView({ block: "nearest" });
    });
  }

  /**
   * @param {string} to
   * @param {string} from
   * @returns {Promise<string>} the call's id
   */
  async call(to, from) {
    const [fault] = scan(this.text).faults;
    if (fault !== undefined) throw new RestError(0, "", `The text is not valid: ${fault.message}`);
    const parties = { to, from, timeout: RING_S };
    if (this.isFlow) await saveFlow(STORED_AS, this.text, null, true);
    const action = this.isFlow ? { flowId: STORED_AS } : { action: parse(this.text) };
    return (await post(CALL, { ...parties, ...action })).callId;
  }

  /** @param {() => Promise<void>} action */
  async attempt(action) {
    this.isBusy = true;
    this.error = null;
    try {
      await action();
    } catch (error) {
      this.error = error;
    } finally {
      this.isBusy = false;
    }
  }
}

customElements.define("playground-page", PlaygroundPage);
