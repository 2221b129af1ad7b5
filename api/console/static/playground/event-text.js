// @ts-check
// An event of a call, in a line.

import { stringify } from "../lib/json.js";
import { reasonText } from "../lib/outcome.js";

/** @typedef {Record<string, any>} CallEvent */

/** What each event has, and what the page shows elsewhere. */
const COMMON = new Set([
  "id", "event", "sequenceNumber", "timestamp", "callId", "accountId", "callStatus", "direction",
  "from", "to", "channelId", "version", "record", "customData", "contact",
]);
const MAX_CHARS = 200;
/** @type {Record<string, string>} */
const EVENTS = {
  initiated: "The call begins",
  ringing: "It rings",
  answered: "The call is answered",
  completed: "The call has ended",
  "leg-initiated": "A party is called",
  "leg-ringing": "The party's phone rings",
  "leg-answered": "The party answers",
  "leg-completed": "The party's part has ended",
  gathered: "Keys were pressed",
  "leg-muted": "A party is muted",
  "leg-unmuted": "A party is heard again",
  "leg-held": "A party is put on hold",
  "leg-unheld": "A party is taken off hold",
  "machine-detection": "Person or machine",
  recorded: "A message was recorded",
  "media-failed": "A prompt could not be played",
};
/** @type {Record<string, string>} of fields; others are named as they are */
const FIELDS = {
  agent_id: "agent",
  answeredBy: "answered by",
  dtmf: "keys",
  endedBy: "ended by",
  hangupCause: "cause",
  legStatus: "status",
  mode: "kind",
  recordingUrl: "recording",
  reference_id: "reference",
  requestedBy: "requested by",
  sessionState: "state",
  sipCode: "SIP status",
};
const UNSAID = new Set([
  "parentCallId", "durationMs", "sessionId", "endedByChannelId", "recordingPurpose", "privacy",
]);

/** @param {CallEvent} event */
export function titleOf({ event, speech }) {
  if (event === "gathered" && typeof speech === "string") return "The caller has spoken";
  return EVENTS[event] ?? event.charAt(0).toUpperCase() + event.slice(1).replaceAll("-", " ");
}

/**
 * Return what an event says, beside its kind.
 * @param {CallEvent} event
 * @param {Record<string, string>} causes of a hangup, in words
 */
export function detailsOf(event, causes) {
  const found = Object.entries(event)
    .filter(([name, value]) => !COMMON.has(name) && !UNSAID.has(name) && value !== null && value !== "")
    .filter(([name]) => name !== "hangupCause" || !event.reason) // which says more
    .map(([name, value]) => `${FIELDS[name] ?? name}: ${textOf(name, value, causes)}`)
    .join(", ");
  return found.length > MAX_CHARS ? `${found.slice(0, MAX_CHARS)}…` : found;
}

/**
 * @param {string} name
 * @param {any} value
 * @param {Record<string, string>} causes
 */
function textOf(name, value, causes) {
  if (name === "hangupCause") return `${causes[value] ?? "cause"} (${value})`;
  if (name === "reason") return reasonText(value);
  if (name === "duration") return `${value} s`;
  return typeof value === "object" ? stringify(value) : `${value}`;
}

/**
 * Return the events of a call in their order, each once.
 * @param {CallEvent[]} events
 * @param {string} callId
 */
export function eventsOf(events, callId) {
  /** @type {Map<string, CallEvent>} */
  const found = new Map();
  for (const each of events) if (each.callId === callId) found.set(each.id, each);
  return [...found.values()].sort((a, b) => a.sequenceNumber - b.sequenceNumber);
}
