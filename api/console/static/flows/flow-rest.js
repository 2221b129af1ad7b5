// @ts-check
// The REST API of flows, with their ETags.

import { parse } from "../lib/json.js";
import { RestError, get, getTagged, post, request } from "../lib/rest.js";

/**
 * @typedef {import("../lib/rest.js").FieldError} FieldError
 * @typedef {{flowId: string, published: number | null, latest: number, version: number}} FlowSummary
 * @typedef {{number: number, isPublished: boolean, createdTime: string, size: number}} VersionView
 * @typedef {{number: number, isPublished: boolean, document: unknown}} Version
 */

export const FLOWS = "/srmain/voice/flows";
const JSON_TYPE = { "Content-Type": "application/json" };

/** @param {string} id */
export function pathOf(id) {
  return `${FLOWS}/${encodeURIComponent(id)}`;
}

/**
 * Return the published version, or the latest draft, and the ETag of the flow.
 * @param {string} id
 * @returns {Promise<Version & {etag: string}>}
 */
export async function readFlow(id) {
  const { value, etag } = await getTagged(pathOf(id));
  return { ...value, etag };
}

/**
 * @param {string} id
 * @param {number} number
 * @returns {Promise<Version>}
 */
export function readVersion(id, number) {
  return get(`${pathOf(id)}/versions/${number}`);
}

/**
 * @param {string} id
 * @returns {Promise<VersionView[]>}
 */
export async function readVersions(id) {
  return (await get(`${pathOf(id)}/versions`)).data;
}

/**
 * Store a text as a new version.
 * @param {string} id
 * @param {string} text
 * @param {string | null} etag of the flow that it changes; empty: there is none yet; null: any
 * @param {boolean} isPublished
 * @returns {Promise<FlowSummary>}
 */
export async function saveFlow(id, text, etag, isPublished) {
  /** @type {Record<string, string>} */
  const condition = etag === null ? {} : etag ? { "If-Match": etag } : { "If-None-Match": "*" };
  const response = await request(`${pathOf(id)}?publish=${isPublished}`, {
    method: "PUT",
    body: text,
    headers: { ...JSON_TYPE, ...condition },
  });
  return parse(await response.text());
}

/**
 * @param {string} id
 * @param {number} number
 * @param {string} etag
 * @returns {Promise<FlowSummary>}
 */
export function publishVersion(id, number, etag) {
  return post(`${pathOf(id)}/publish`, { number }, { "If-Match": etag });
}

/**
 * Return the errors of a text.
 * @param {string} id
 * @param {string} text
 * @param {AbortSignal} signal
 * @returns {Promise<FieldError[]>}
 */
export async function checkFlow(id, text, signal) {
  try {
    await request(`${pathOf(id)}/check`, { method: "POST", body: text, headers: JSON_TYPE, signal });
    return [];
  } catch (error) {
    if (!(error instanceof RestError) || error.status !== 400) throw error;
    return error.errors.length ? error.errors : [{ path: "", message: error.message, code: error.code }];
  }
}
