// @ts-check
// What became of a call, and what went wrong in it: the same words on all pages.

/**
 * @typedef {{text: string, kind: "" | "good" | "warn" | "bad" | "accent"}} Tag
 * @typedef {{text: string, code: string}} Fault `code` has a page below /docs/errors
 */

/** @type {Record<string, Tag>} by the status of a call */
const STATUSES = {
  queued: { text: "waiting", kind: "accent" },
  initiated: { text: "starting", kind: "accent" },
  ringing: { text: "ringing", kind: "warn" },
  "in-progress": { text: "answered", kind: "accent" },
  completed: { text: "answered", kind: "good" },
  busy: { text: "busy", kind: "warn" },
  "no-answer": { text: "no answer", kind: "warn" },
  canceled: { text: "canceled", kind: "warn" },
  failed: { text: "failed", kind: "bad" },
};
/** @type {Record<string, string>} by the code that a reason begins with */
const FAULTS = {
  action_failed: "webhook or flow failed",
  media_timeout: "audio lost",
  signaling_timeout: "phone lost",
  bridge_failed: "not connected",
  lost: "lost",
  internal: "engine failed",
  interworking: "interworking",
  too_many_verbs: "too many verbs",
  longest_call: "too long",
  not_allowed: "not allowed",
  do_not_call: "do-not-call",
  unallocated_number: "no such number",
  no_route: "no route",
  no_circuit: "no free line",
  network_out_of_order: "network out of order",
  destination_out_of_order: "out of order",
  subscriber_absent: "phone offline",
  congestion: "congestion",
  unavailable: "not available",
  incompatible: "no common codec",
};

/**
 * Return what became of a call. One in which something went wrong is not green.
 * @param {{status: string, answerStatus?: string, reason?: string | null, mediaFault?: any}} call
 * @returns {Tag}
 */
export function outcomeOf(call) {
  const found = STATUSES[call.status] ?? { text: call.status, kind: "" };
  if (call.status !== "completed") return found;
  const text = call.answerStatus ?? "answered";
  if (faultsOf(call).length) return { text, kind: "warn" };
  return { text, kind: text === "answered" ? "good" : "warn" };
}

/**
 * Return what went wrong in a call: what ended it, then its first prompt that failed.
 * @param {{reason?: string | null, mediaFault?: any}} call
 * @returns {Fault[]}
 */
export function faultsOf({ reason, mediaFault }) {
  const [code = "", detail = ""] = (reason ?? "").split(":").map((each) => each.trim());
  /** @type {Fault[]} */
  const found = [];
  if (FAULTS[code]) found.push({ text: FAULTS[code], code: code === "action_failed" ? pageOf(detail) || code : code });
  if (mediaFault) {
    const text = mediaFault.reason === "not_found" ? "prompt missing" : "prompt failed";
    found.push({ text, code: pageOf(mediaFault.reason) });
  }
  return found;
}

/**
 * Return a reason in words: what ended the call, and what a server or the PBX said.
 * @param {string} reason
 */
export function reasonText(reason) {
  const [code = "", ...more] = reason.split(":").map((each) => each.trim());
  const said = more.filter((each) => pageOf(each) === "").join(": ") || more.join(": ");
  return `${FAULTS[code] ?? code}${said ? ` (${said})` : ""}`;
}

/** @param {string} code those of a status share a page */
function pageOf(code) {
  if (/^status_\d+$/.test(code)) return "status_nnn";
  return /^[a-z][a-z0-9_]*$/.test(code) ? code : "";
}
