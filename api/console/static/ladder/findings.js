// @ts-check
// What went wrong in a call, in plain words: the cause of its end first.

import * as say from "./wording.js";

/**
 * @typedef {{text: string, code: string, request: string, atMs: number, isCause: boolean}} Finding
 *   (`request`: whose attempts show more; `code` has a page below /docs/errors)
 */

/** @type {Record<string, [string, string]>} why a called party did not answer, by SIP and Q.850 */
const NOT_ANSWERED = {
  17: ["is busy", "not_answered"],
  18: ["does not respond: its phone is off, or its network is lost", "not_answered"],
  19: ["did not answer in time", "not_answered"],
  20: ["is not registered", "subscriber_absent"],
  21: ["rejected the call", "rejected"],
  27: ["cannot be reached", "destination_out_of_order"],
  1: ["is no number that exists", "unallocated_number"],
  2: ["has no route", "no_route"],
  3: ["has no route", "no_route"],
  34: ["was not called: the carrier has no free line", "no_circuit"],
  42: ["was not called: the carrier is congested", "congestion"],
};
const NO_ANSWER = 19;
const NO_RESPONSE = "never rang: the server or the network behind it sent no response in time";
/** @type {Record<string, string>} why a call ended */
const REASONS = {
  media_timeout: "A phone sent no audio any more: it or its network failed, or it left without a hangup.",
  signaling_timeout: "A phone did not acknowledge the answer.",
  lost: "The PBX lost the call.",
  internal: "The engine failed, and dropped the call.",
  answered_late: "The call was answered just when it was canceled.",
  time_limit: "The dial's time limit ended the call.",
  longest_call: "The limit of a call's length ended it.",
  too_many_verbs: "The tree ran too many verbs; does it repeat itself?",
  bridge_failed: "The PBX could not connect the parties.",
  not_allowed: "The dial policy does not allow the number.",
  do_not_call: "The number is on the do-not-call list.",
};

/**
 * @param {any} timeline
 * @returns {Finding[]}
 */
export function findFaults({ call, moments, attempts = [] }) {
  /** @type {Finding[]} */
  const found = [];
  /** @type {Map<string, string>} */
  const parties = new Map([[call.mainChannelId, call.from]]);
  /** @type {Map<string, any>} */
  const sent = new Map();
  /** @type {Set<string>} */
  const answered = new Set();
  /** @type {Set<string>} */
  const rang = new Set();
  const hangups = new Set();
  for (const { atMs, event, commands } of moments) {
    const add = (/** @type {string} */ text, code = "", request = "", isCause = false) =>
      found.push({ text, code, request, atMs, isCause });
    if (event.type === "leg-answered") answered.add(event.leg);
    if (event.type === "leg-ringing") rang.add(event.leg);
    if (event.type === "action-failed" || event.type === "api-request-failed") {
      const { request, reason } = event;
      const url = sent.get(request)?.url ?? attempts.find((/** @type {any} */ each) => each.requestId === request)?.url;
      const what = url ? `The server at ${url}` : sent.has(request) ? "A server" : "The flow";
      const isCause = String(call.reason ?? "").startsWith("action_failed");
      add(`${what} ${failure(reason)}`, codeOf(reason), request, isCause);
    }
    if (event.type === "leg-ended" && !answered.has(event.leg) && !hangups.has(event.leg)) {
      const party = parties.get(event.leg);
      if (party) add(...unanswered(party, event));
    }
    if (event.type === "media-fetched") {
      for (const each of event.failed ?? []) add(`${audio(each.source)} ${mediaFault(each.reason, event.faults)}`, each.reason);
    }
    if (event.type === "flow-node-loaded") {
      for (const each of event.faults ?? []) add(`A value in a node of a flow does not fit: ${each}.`, "invalid");
    }
    if (event.type === "playback-ended" && event.failed) add("The PBX could not play a prompt.", "not_played");
    if (event.type === "bridge-failed") add(`The PBX could not connect the parties: ${event.reason}.`, "bridge_failed", "", true);
    if (event.type === "call-dropped") add(`The engine dropped the call: ${event.reason}.`, event.reason, "", true);
    if (event.type === "recordings-archived" && event.fault) add("The recording is lost, or not stored yet.", "not_stored");
    for (const command of commands) {
      if (command.type === "originate") parties.set(command.leg, command.party);
      if (command.type === "hangup") hangups.add(command.leg);
      const waited = event.type === "deadline-passed" && command.type === "hangup" && command.cause === NO_ANSWER;
      if (waited && parties.has(command.leg) && !answered.has(command.leg)) {
        const text = rang.has(command.leg) ? "rang, and did not answer in time" : NO_RESPONSE;
        add(`${parties.get(command.leg)} ${text}.`, "not_answered");
      }
      if (command.request) sent.set(command.request, command);
    }
  }
  const isTold = found.some((each) => each.isCause || each.code === call.reason);
  const text = REASONS[call.reason ?? ""];
  if (text && !isTold) found.push({ text, code: call.reason, request: "", atMs: call.endedMs, isCause: true });
  return found.sort((a, b) => Number(b.isCause) - Number(a.isCause) || a.atMs - b.atMs);
}

/**
 * Say what a server sent instead of an action; `details` is the attempt with its response.
 * @param {Finding} finding
 * @param {any} details
 */
export function explain(finding, details) {
  if (finding.code !== "not_json" || !details) return finding.text;
  const entries = Object.entries(details.responseHeaders ?? {});
  const type = entries.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  const kind = /html/i.test(String(type)) || /^\s*</.test(details.responseBody?.text ?? "") ? "HTML" : "text";
  const status = details.status && details.status !== 200 ? `, status ${details.status}` : "";
  return `The server at ${details.url} returned ${kind}${type ? ` (${type})` : ""}${status}, not JSON.`;
}

/** @param {string} reason such as `not_json: the body is not JSON` */
function failure(reason) {
  const code = codeOf(reason);
  const detail = reason.split(": ").slice(1).join(": ");
  if (code === "not_json") return "did not return JSON.";
  if (code === "timeout") return "did not respond in time.";
  if (code === "connect") return "cannot be reached.";
  if (code === "redirect") return "redirected the request, which is not followed.";
  if (code === "invalid_action") return `returned an action that is not valid${detail ? `: ${detail}` : ""}.`;
  if (code === "status_nnn") return `responded with status ${reason.slice("status_".length, "status_".length + 3)}.`;
  return `gave no usable response: ${reason}.`;
}

/** @param {string} reason */
function codeOf(reason) {
  const code = reason.split(":")[0]?.trim() ?? "";
  return /^status_\d+$/.test(code) ? "status_nnn" : code;
}

/**
 * @param {string} party
 * @param {any} event
 * @returns {[string, string]}
 */
function unanswered(party, { reason, cause, sipCode }) {
  const agent = /^agent:(.*)$/.exec(party)?.[1];
  const who = agent ? `The phone of agent ${agent}` : party;
  const isUnreachable = reason === "unavailable" || (!reason && !sipCode && [2, 3, 20, 41].includes(cause));
  if (agent && isUnreachable) return [`${who} is not registered: it is off, or cannot sign in.`, "agent_offline"];
  if (reason) return [`${who} was not called: ${say.notDialed(reason)}.`, reason];
  const [text, code] = NOT_ANSWERED[cause] ?? [`did not answer: ${say.cause(cause, sipCode)}`, "not_answered"];
  return [`${who} ${text}${sipCode ? ` (SIP ${sipCode})` : ""}.`, code];
}

/** @param {string} source an address, or a text that was to be spoken */
function audio(source) {
  return /^https?:/.test(source) ? `The prompt at ${source}` : `The prompt “${say.shorten(source)}”`;
}

/**
 * @param {string} reason
 * @param {string[]} faults
 */
function mediaFault(reason, faults) {
  const detail = faults.find((each) => each.startsWith(reason))?.slice(reason.length + 2) ?? "";
  if (reason === "not_found") return `cannot be fetched: it does not exist there${detail ? ` (${detail})` : ""}.`;
  return `could not be played: ${detail || reason}.`;
}
