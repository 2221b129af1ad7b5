// @ts-check
// An event of a call, in a line.

/** @typedef {Record<string, any>} CallEvent */

/** What each event has, and what the page shows elsewhere. */
const COMMON = new Set([
  "id", "event", "sequenceNumber", "timestamp", "callId", "accountId", "callStatus", "direction",
  "from", "to", "channelId", "version", "record", "customData", "contact",
]);
const MAX_CHARS = 200;

/**
 * Return what an event says, beside its kind.
 * @param {CallEvent} event
 */
export function detailsOf(event) {
  const found = Object.entries(event)
    .filter(([name, value]) => !COMMON.has(name) && value !== null && value !== "")
    .map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`)
    .join(", ");
  return found.length > MAX_CHARS ? `${found.slice(0, MAX_CHARS)}…` : found;
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
