// @ts-check
// A reason, such as `not_json: the body is not JSON`, whose first word has a page.

import { html, nothing } from "../vendored/lit.js";

/** @param {string | null | undefined} reason */
export function renderReason(reason) {
  if (!reason) return nothing;
  const [code = "", ...more] = reason.split(":");
  if (!/^[a-z][a-z0-9_]*$/.test(code)) return reason;
  const text = more.length ? `:${more.join(":")}` : "";
  return html`<a href="/docs/errors/${code}" target="_blank" rel="noopener">${code}</a>${text}`;
}
