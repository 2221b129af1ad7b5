// @ts-check
// The client of the REST API: JSON in and out, problems as errors.

import { parse, stringify } from "./json.js";
import { csrfToken, signIn } from "./page.js";

/**
 * @typedef {{path: string, message: string, code: string}} FieldError
 * @typedef {string | number | boolean | null | undefined} QueryValue
 */

/** A problem of the REST API (RFC 9457), or a server that did not respond (status 0). */
export class RestError extends Error {
  /**
   * @param {number} status
   * @param {string} code of the catalogue, with a page below /docs/errors
   * @param {string} detail
   * @param {FieldError[]} errors
   */
  constructor(status, code, detail, errors = []) {
    super(detail || code);
    this.name = "RestError";
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.errors = errors;
  }
}

/**
 * Send a request; raises RestError. A session that has ended leads to the sign-in page.
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<Response>}
 */
export async function request(path, options = {}) {
  const headers = new Headers(options.headers);
  headers.set("X-CSRF-Token", csrfToken);
  let response;
  try {
    response = await fetch(path, { ...options, headers, redirect: "error" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new RestError(0, "", "The server does not respond.");
  }
  if (response.status === 401 && csrfToken) signIn();
  if (!response.ok) throw await toError(response);
  return response;
}

/**
 * @param {string} path it may have a query already
 * @param {Record<string, QueryValue>} [query] values that are empty are left out
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function get(path, query = {}, signal) {
  const response = await request(withQuery(path, query), signal ? { signal } : {});
  return await toJson(response);
}

/**
 * Return a resource with its ETag, for If-Match.
 * @param {string} path
 * @returns {Promise<{value: any, etag: string}>}
 */
export async function getTagged(path) {
  const response = await request(path);
  return { value: parse(await response.text()), etag: response.headers.get("ETag") ?? "" };
}

/**
 * @param {string} path
 * @param {unknown} [body]
 * @param {Record<string, string>} [headers] such as If-Match
 */
export function post(path, body = {}, headers = {}) {
  return send("POST", path, body, { "Idempotency-Key": crypto.randomUUID(), ...headers });
}

/**
 * @param {string} path
 * @param {unknown} body
 * @param {Record<string, string>} [headers]
 */
export function put(path, body, headers = {}) {
  return send("PUT", path, body, headers);
}

/**
 * @param {string} path
 * @param {unknown} body
 * @param {Record<string, string>} [headers]
 */
export function patch(path, body, headers = {}) {
  return send("PATCH", path, body, headers);
}

/**
 * @param {string} path
 * @param {Record<string, string>} [headers]
 */
export function del(path, headers = {}) {
  return send("DELETE", path, undefined, headers);
}

/**
 * Send a file with what belongs to it.
 * @param {string} method
 * @param {string} path
 * @param {Record<string, string | File | null>} parts those that are null are left out
 * @returns {Promise<any>}
 */
export async function sendParts(method, path, parts) {
  const body = new FormData();
  for (const [name, part] of Object.entries(parts)) if (part !== null) body.set(name, part);
  const headers = { "Idempotency-Key": crypto.randomUUID() };
  return await toJson(await request(path, { method, body, headers }));
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} body
 * @param {Record<string, string>} headers
 */
async function send(method, path, body, headers) {
  /** @type {Record<string, string>} */
  const given = body === undefined ? {} : { "Content-Type": "application/json" };
  const text = body === undefined ? null : stringify(body);
  const response = await request(path, { method, body: text, headers: { ...given, ...headers } });
  return await toJson(response);
}

/** @param {Response} response */
async function toJson(response) {
  return response.status === 204 ? null : parse(await response.text());
}

/**
 * @param {string} path
 * @param {Record<string, QueryValue>} query
 */
function withQuery(path, query) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") found.set(name, String(value));
  }
  return found.size ? `${path}${path.includes("?") ? "&" : "?"}${found}` : path;
}

/** @param {Response} response */
async function toError(response) {
  try {
    const { code, detail, title, errors } = parse(await response.text());
    return new RestError(response.status, code ?? "", detail ?? title ?? "", errors ?? []);
  } catch {
    return new RestError(response.status, "", `The server responded with ${response.status}.`);
  }
}
