// @ts-check
// Agents whose phone is a browser, for people who try one.

import { accountId } from "./page.js";
import { RestError, get, put } from "./rest.js";

export const AGENTS = "/srmain/voice/agents";

/**
 * Create an agent whose phone is a browser, unless it is there.
 * @param {string} agent
 * @param {string} name
 */
export async function ensureBrowserAgent(agent, name) {
  const path = `${AGENTS}/${agent}`;
  try {
    if ((await get(path)).phone === "browser") return;
  } catch (error) {
    if (!(error instanceof RestError) || error.status !== 404) throw error;
    await put(path, bodyOf(agent, name), { "If-None-Match": "*" }); // nobody's agent is overwritten
    return;
  }
  throw new RestError(0, "", `The agent ${agent} has another phone: set its phone to “browser”.`);
}

/**
 * @param {string} agent
 * @param {string} name
 */
function bodyOf(agent, name) {
  return { endpoint: endpointOf(agent), name, phone: "browser" };
}

/**
 * Return the endpoint that is made for an agent: no other account can have it.
 * @param {string} agent
 */
export function endpointOf(agent) {
  return `PJSIP/${accountId}-${agent.replaceAll("-", "_")}`; // the account is all before the last -
}
