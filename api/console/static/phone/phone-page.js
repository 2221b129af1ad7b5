// @ts-check
// <phone-page>: the console's page with the phone of an agent.

import { html, nothing } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { AGENTS, ensureBrowserAgent } from "../lib/browser-agent.js";
import { agentId, may } from "../lib/page.js";
import { get, post } from "../lib/rest.js";
import { SwitchroomPhone } from "../components/phone.js";
import "../components/problem.js";

const FIRST = "browser"; // the agent that a click creates
const ONLINE = "switchroom-phone-online"; // of a tab: the agent that is online

export class PhonePage extends ConsoleElement {
  static properties = {
    agent: { state: true },
    agents: { state: true },
    error: { state: true },
  };

  constructor() {
    super();
    this.agent = agentId || (new URLSearchParams(location.search).get("agent") ?? "");
    /** @type {{agentId: string, name: string, phone: string}[]} */
    this.agents = [];
    /** @type {unknown} */
    this.error = null;
    this.isLeaving = false;
  }

  connectedCallback() {
    super.connectedCallback();
    window.addEventListener("pagehide", this.leave);
    if (!agentId && may("agents:read")) void this.load();
    else void this.resume();
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    window.removeEventListener("pagehide", this.leave);
  }

  leave = () => {
    this.isLeaving = true;
  };

  /** Go online again if this tab was online when its page was left. */
  async resume() {
    const agent = sessionStorage.getItem(ONLINE);
    const isKnown = agent === agentId || this.agents.some((each) => each.agentId === agent);
    if (!agent || !isKnown || (this.agent && this.agent !== agent)) return;
    this.agent = agent;
    await this.goOnline();
  }

  async load() {
    try {
      const { data } = await get(AGENTS, { limit: 1_000 });
      this.agents = data.filter((/** @type {any} */ each) => each.phone === "browser");
      if (!this.agent && this.agents.length === 1) this.agent = this.agents[0]?.agentId ?? "";
      await this.resume();
    } catch (error) {
      this.error = error;
    }
  }

  /** Create an agent with a phone in a browser, and log it in here. */
  async createFirst() {
    this.error = null;
    try {
      await ensureBrowserAgent(FIRST, "Browser");
      this.agent = FIRST;
      await this.load();
      await this.goOnline();
    } catch (error) {
      this.error = error;
    }
  }

  async goOnline() {
    await this.updateComplete;
    const phone = this.querySelector("switchroom-phone");
    if (phone instanceof SwitchroomPhone) await phone.goOnline();
  }

  /** Remember who is online in this tab, until the person goes offline; leaving the page is not that. */
  follow() {
    const phone = this.querySelector("switchroom-phone");
    if (this.isLeaving || !(phone instanceof SwitchroomPhone)) return;
    if (phone.login === "off") sessionStorage.removeItem(ONLINE);
    else sessionStorage.setItem(ONLINE, this.agent);
  }

  /** @returns {import("./server.js").PhoneServer} */
  get server() {
    const path = `${AGENTS}/${encodeURIComponent(this.agent)}/phone-credentials`;
    return { createCredentials: () => post(path), get: (each) => get(each), post };
  }

  /** @param {Event} event */
  choose({ target }) {
    this.agent = /** @type {HTMLSelectElement} */ (target).value;
  }

  render() {
    return html`
      <console-problem .error=${this.error}></console-problem>
      ${agentId ? nothing : this.renderChoice()}
      ${this.agent
        ? html`<switchroom-phone .agent=${this.agent} .server=${this.server} @phone-state=${this.follow}></switchroom-phone>`
        : nothing}
    `;
  }

  renderChoice() {
    if (!this.agents.length) {
      return html`
        <p>
          No agent has a phone in a browser: set the phone of an <a href="/console/agents">agent</a> to
          “browser”, or create one here.
        </p>
        ${may("agents:write")
          ? html`<p><button class="primary" @click=${this.createFirst}>Use this browser as a phone</button></p>`
          : nothing}
      `;
    }
    return html`
      <p class="row"><label>Agent
        <select @change=${this.choose}>
          <option value="">Choose an agent</option>
          ${this.agents.map(
            (each) => html`<option value=${each.agentId} ?selected=${each.agentId === this.agent}>
              ${each.name || each.agentId}
            </option>`,
          )}
        </select>
      </label></p>
    `;
  }
}

customElements.define("phone-page", PhonePage);
