// @ts-check
// <console-sign-in>: exchanges a key's pair for a session.
//
// An address that ends in #apiKey:apiSecret, as `switchroom dev` prints it, fills the form in, and
// signs in by itself at a server of this machine. Elsewhere it does not: a link in a message could
// sign a person in to the account of whoever has written it. What follows # is not sent to a server,
// and it is removed from the history.

import { html } from "../vendored/lit.js";
import { isThisMachine } from "../lib/address.js";
import { ConsoleElement } from "../lib/console-element.js";
import { post, RestError } from "../lib/rest.js";
import "./problem.js";

const FIRST_PAGE = "/console";

export class ConsoleSignIn extends ConsoleElement {
  static properties = { error: { state: true }, busy: { state: true } };

  constructor() {
    super();
    /** @type {unknown} */
    this.error = null;
    this.busy = false;
    const [key = "", secret = ""] = location.hash.slice(1).split(":");
    this.key = key;
    this.secret = secret;
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  }

  firstUpdated() {
    if (this.key && this.secret && isThisMachine(location.hostname)) this.querySelector("form")?.requestSubmit();
  }

  render() {
    return html`
      <form class="stack card" @submit=${this.submit}>
        <label>
          API key
          <input name="apiKey" autocomplete="username" spellcheck="false" required
            .value=${this.key} />
        </label>
        <label>
          API secret
          <input name="apiSecret" type="password" autocomplete="current-password" required
            .value=${this.secret} />
        </label>
        <label>
          Agent
          <input name="agentId" autocomplete="off" aria-describedby="agent-hint" />
          <span class="hint" id="agent-hint">
            Only to sign in as an agent of the account, with an agent's rights.
          </span>
        </label>
        <button class="primary" ?disabled=${this.busy}>Sign in</button>
        <console-problem .error=${this.error}></console-problem>
      </form>
    `;
  }

  /** @param {SubmitEvent} event */
  async submit(event) {
    event.preventDefault();
    const given = new FormData(/** @type {HTMLFormElement} */ (event.target));
    const values = [...given].filter(([, value]) => value !== "");
    this.busy = true;
    try {
      await post("/console/session", Object.fromEntries(values));
      location.assign(nextPage());
    } catch (error) {
      this.error = inWords(error);
    } finally {
      this.busy = false;
    }
  }
}

/**
 * Say of a pair that is not valid what a person can do.
 * @param {unknown} error
 */
function inWords(error) {
  if (!(error instanceof RestError) || error.code !== "unauthenticated") return error;
  const text = "This key and this secret do not belong together, or the key has expired or was revoked.";
  return new RestError(error.status, error.code, text, error.errors);
}

/** Return where to go: only to a page of the console, whatever the address says. */
function nextPage() {
  const given = new URLSearchParams(location.search).get("next") ?? "";
  if (!URL.canParse(given, location.origin)) return FIRST_PAGE;
  const next = new URL(given, location.origin);
  const isOurs = next.origin === location.origin && /^\/console(\/|$)/.test(next.pathname);
  return isOurs ? next.pathname + next.search : FIRST_PAGE;
}

customElements.define("console-sign-in", ConsoleSignIn);
