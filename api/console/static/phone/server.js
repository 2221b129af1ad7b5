// @ts-check
// Where a phone gets its credentials, and controls its calls: the console's server, or another one.

import { parse, stringify } from "../lib/json.js";

/**
 * @typedef {{urls: string[], username?: string, credential?: string}} IceServer
 * @typedef {{
 *   uri: string, username: string, password: string, urls: string[],
 *   iceServers: IceServer[], expiryTime: string,
 * }} Credentials
 * @typedef {{
 *   createCredentials: () => Promise<Credentials>,
 *   get: ((path: string) => Promise<any>) | null,
 *   post: ((path: string, body: unknown) => Promise<any>) | null,
 * }} PhoneServer `get` and `post` are null where no call can be controlled.
 */

const CREDENTIALS_FIELDS = ["uri", "username", "password", "urls", "expiryTime"];

/**
 * The server of an application that embeds the phone. Its `credentialsUrl` returns credentials of
 * one agent as REST made them, and may add `accessToken`, a token of the agent, with which the phone
 * controls its calls at `restUrl`.
 * @param {string} credentialsUrl
 * @param {string} restUrl
 * @returns {PhoneServer}
 */
export function embeddingServer(credentialsUrl, restUrl) {
  let token = "";
  const read = async () => {
    const found = await json(await fetch(credentialsUrl, { method: "POST", credentials: "include" }));
    const missing = CREDENTIALS_FIELDS.filter((name) => !(name in found));
    if (missing.length) throw new Error(`${credentialsUrl} responds without ${missing.join(", ")}.`);
    token = found.accessToken ?? "";
    return { iceServers: [], ...found };
  };
  /**
   * @param {string} path
   * @param {RequestInit} options
   */
  const send = async (path, options) => {
    if (!token) await read();
    const headers = { ...options.headers, Authorization: token };
    return await json(await fetch(new URL(path, restUrl), { ...options, headers }));
  };
  if (!restUrl) return { createCredentials: read, get: null, post: null };
  return {
    createCredentials: read,
    get: (path) => send(path, {}),
    post: (path, body) =>
      send(path, {
        method: "POST",
        headers: { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() },
        body: stringify(body),
      }),
  };
}

/** @param {Response} response */
async function json(response) {
  if (response.ok) return response.status === 204 ? null : parse(await response.text());
  let text = `The server responded with ${response.status}.`;
  try {
    const { detail, title } = parse(await response.text());
    text = detail || title || text;
  } catch {
    // no problem document: the status says enough
  }
  throw new Error(text);
}
