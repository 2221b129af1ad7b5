// @ts-check
// What the server has written into the page: who is signed in, and what they may do.

import { parse } from "./json.js";

/** @param {string} name */
function meta(name) {
  const found = document.querySelector(`meta[name="${name}"]`);
  return found instanceof HTMLMetaElement ? found.content : "";
}

export const csrfToken = meta("csrf-token");
export const accountId = meta("account");
/** Empty for an account's key. */
export const agentId = meta("agent");
/** @type {Record<string, string>} words of hangup causes, on pages that need them */
export const hangupCauses = parse(meta("hangup-causes") || "{}");
const scopes = new Set(meta("scopes").split(" "));

/**
 * Return whether who is signed in has a scope; the server checks it all the same.
 * @param {string} scope
 */
export function may(scope) {
  return scopes.has(scope);
}

/** Leave for the sign-in page, which leads back here. */
export function signIn() {
  const here = location.pathname + location.search;
  location.assign(`/console/sign-in?next=${encodeURIComponent(here)}`);
}
