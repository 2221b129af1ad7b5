// @ts-check
// Words for hangup causes, actions, sources and durations, as the command line has them.

/** @type {Record<number, string>} ITU-T Q.850, table 1 */
const CAUSES = {
  0: "lost", 1: "unallocated number", 3: "no route", 16: "normal clearing", 17: "user busy",
  18: "no user responding", 19: "no answer", 20: "subscriber absent", 21: "call rejected",
  22: "number changed", 26: "answered elsewhere", 27: "destination out of order",
  28: "invalid number format", 31: "normal, unspecified", 34: "no circuit available",
  38: "network out of order", 41: "temporary failure", 42: "congestion",
  44: "channel unavailable", 47: "resource unavailable", 58: "bearer capability not available",
  88: "incompatible destination", 102: "recovery on timer expiry", 111: "protocol error",
  127: "interworking",
};
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
  return given.type ? `${given.type} ${object(given.data ?? {})}`.trim() : shorten(JSON.stringify(given));
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
