// @ts-check
// <console-user>: who is signed in, the theme, and the way out.

import { html } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { del } from "../lib/rest.js";
import "../lib/session.js";
import { chooseTheme, chosenTheme } from "../lib/theme.js";

/** @type {Record<import("../lib/theme.js").Theme, string>} */
const THEMES = { system: "System theme", light: "Light theme", dark: "Dark theme" };

export class ConsoleUser extends ConsoleElement {
  static properties = { account: {}, agent: {} };

  constructor() {
    super();
    this.account = "";
    this.agent = "";
  }

  render() {
    return html`
      <div class="user">
        <span>${this.agent ? `agent ${this.agent} of ${this.account}` : this.account}</span>
        <select aria-label="Theme" @change=${this.changeTheme}>
          ${Object.entries(THEMES).map(
            ([value, text]) =>
              html`<option value=${value} ?selected=${value === chosenTheme()}>${text}</option>`,
          )}
        </select>
        <button @click=${this.signOut}>Sign out</button>
      </div>
    `;
  }

  /** @param {Event} event */
  changeTheme(event) {
    const { value } = /** @type {HTMLSelectElement} */ (event.target);
    chooseTheme(/** @type {import("../lib/theme.js").Theme} */ (value));
  }

  async signOut() {
    await del("/console/session");
    location.assign("/console/sign-in");
  }
}

// The menu is open where it stands beside the page; on a small screen it would hide the page.
if (matchMedia("(max-width: 59.99rem)").matches) {
  document.querySelector("details.menu")?.removeAttribute("open");
}

customElements.define("console-user", ConsoleUser);
