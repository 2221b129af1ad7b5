// @ts-check
// Words for hangup causes, actions, sources and durations, as the command line has them.

import { CAUSES } from "../lib/hangup-causes.js";
import { stringify } from "../lib/json.js";

/** @type {Record<string, string>} */
const NOT_DIALED = {
  not_allowed: "the dial policy does not allow it",
  number_without_country: "it has no country code",
  do_not_call: "it is on the do-not-call list",
  terms_unknown: "the dial policy is not available",
  unavailable: "its phone is not registered, or not known to the PBX",
};
const LONGEST = 60;
const SEALED_DIGIT = /~[A-Za-z0-9_-]{39}/g;

/**
 * @param {number} number
 * @param {number} [sipCode]
 */
export function cause(number, sipCode = 0) {
  return `${CAUSES[number] ?? "cause"} (${number}${sipCode ? `, SIP ${sipCode}` : ""})`;
}

/** @param {string} reason why a party was not called */
export function notDialed(reason) {
  return NOT_DIALED[reason] ?? reason;
}

/** @param {number} ms */
export function seconds(ms) {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** @param {unknown} value */
export function shorten(value) {
  const text = String(value).split(/\s+/).join(" ").trim();
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}

/** @param {string} url */
export function host(url) {
  try {
    return new URL(url).host || url;
  } catch {
    return url;
  }
}

/** @param {string} digits those of sensitive gathers are sealed */
export function digits(digits) {
  return digits.replaceAll(SEALED_DIGIT, "•");
}

/** @param {any[]} sources */
export function sources(sources) {
  return sources.map(source).join(", then ");
}

/** @param {any} source */
function source(source) {
  if (source.text) return `say “${shorten(source.text)}”`;
  return source.url ? `play ${shorten(source.url)}` : "play";
}

/** @param {any} given a tree: its first verb */
export function action(given) {
  if (given === null || given === undefined) return "no action";
  if (typeof given === "string") return `webhook ${shorten(given)}`;
  return given.type ? `${given.type} ${object(given.data ?? {})}`.trim() : shorten(stringify(given));
}

/** @param {any} data */
function object(data) {
  if (data.text) return `“${shorten(data.text)}”`;
  if (Array.isArray(data.audioUrl)) return `${data.audioUrl.length} sounds`;
  if (data.audioUrl) return shorten(data.audioUrl);
  if (data.length) return `of ${seconds(data.length * 1_000)}`;
  if (data.number) return [data.number].flat().join(", ");
  if (data.agent_id) return `agent ${data.agent_id}`;
  if (data.flowId) return `flow ${data.flowId}`;
  return data.maxDigits ? `up to ${data.maxDigits} digits` : "";
}

/** @param {[number, number][]} tries pairs of milliseconds and status */
export function tries(tries) {
  const texts = tries.map(([ms, status]) => `${status || "no response"} in ${ms} ms`);
  return texts.length ? ` (${texts.join(", then ")})` : "";
}

/** @param {Record<string, unknown>} values */
export function values(values) {
  const texts = Object.entries(values).map(([name, each]) => `${name} = ${shorten(each)}`);
  return texts.join(", ") || "no values";
}
