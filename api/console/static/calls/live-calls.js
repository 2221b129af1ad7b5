// @ts-check
// The live calls of an account: a list from REST, moved on by events.
//
// A list is older than an event that arrives while it is on its way, so each call remembers when
// its last event came, and an ended call stays ended.

const FADE_MS = 3_000; // for which an ended call is still shown
const REMEMBERED_MS = 60_000; // for which a list cannot bring an ended call back

/** @type {Record<string, string>} what a call does, by its state */
export const STATES = {
  playing: "plays a prompt",
  gathering: "waits for digits",
  recording: "records a message",
  pausing: "pauses",
  detecting: "detects who answered",
  dialing: "calls a party",
  "awaiting-instructions": "waits for a server",
  ending: "hangs up",
  "archiving-recordings": "stores its recording",
};

/**
 * @typedef {"ringing" | "menu" | "talking" | "hold" | "ended"} Phase
 * @typedef {{party: string, isHeld: boolean, isAnswered: boolean}} Leg
 * @typedef {{
 *   callId: string, direction: string, from: string, to: string, state: string,
 *   createdMs: number, answeredMs: number, endedAtMs: number, touchedMs: number,
 *   legs: Map<string, Leg>, agents: Set<string>,
 *   reason: string, mediaFault: {source: string, reason: string} | null,
 * }} LiveCall (agents: that take or took part)
 * @typedef {{number?: string, agent?: string, phase?: string, direction?: string}} Filters
 */

export class LiveCalls {
  constructor() {
    /** @type {Map<string, LiveCall>} */
    this.calls = new Map();
    /** @type {Map<string, number>} when each ended */
    this.ended = new Map();
  }

  /**
   * Take a list over that was requested at a time of this browser's clock.
   * @param {any[]} rows
   * @param {number} requestedMs
   * @param {boolean} [isWhole] whether the list has all live calls
   */
  reconcile(rows, requestedMs, isWhole = true) {
    const listed = new Set();
    for (const row of rows) {
      listed.add(row.callId);
      const known = this.calls.get(row.callId);
      if (this.ended.has(row.callId) || (known && known.touchedMs > requestedMs)) continue;
      this.calls.set(row.callId, fromDetails(row));
    }
    if (!isWhole) return;
    for (const call of this.calls.values()) {
      if (!listed.has(call.callId) && call.touchedMs <= requestedMs) this.end(call, requestedMs);
    }
  }

  /**
   * Apply an event of the account's stream.
   * @param {any} event
   * @param {number} nowMs
   */
  apply(event, nowMs) {
    if (this.ended.has(event.callId)) return;
    const call = this.calls.get(event.callId) ?? fromEvent(event);
    this.calls.set(call.callId, call);
    call.touchedMs = nowMs;
    applyTo(call, event);
    if (event.event === "completed") this.end(call, nowMs);
  }

  /**
   * Drop calls that have faded out; return whether any is left that fades.
   * @param {number} nowMs
   */
  sweep(nowMs) {
    let isFading = false;
    for (const [id, endedMs] of this.ended) {
      if (nowMs - endedMs >= FADE_MS) this.calls.delete(id);
      else isFading = true;
      if (nowMs - endedMs >= REMEMBERED_MS) this.ended.delete(id);
    }
    return isFading;
  }

  /**
   * @param {LiveCall} call
   * @param {number} nowMs
   */
  end(call, nowMs) {
    if (this.ended.has(call.callId)) return;
    call.endedAtMs = nowMs;
    call.state = "ended";
    this.ended.set(call.callId, nowMs);
  }

  /**
   * Return the calls that match all filters, newest first.
   * @param {Filters} filters
   */
  matching(filters) {
    const found = [...this.calls.values()].filter((each) => matches(each, filters));
    return found.sort((a, b) => b.createdMs - a.createdMs || (a.callId < b.callId ? 1 : -1));
  }

  /** Count the live calls by phase. */
  counts() {
    const found = { live: 0, ringing: 0, menu: 0, talking: 0, hold: 0 };
    for (const call of this.calls.values()) {
      const phase = phaseOf(call);
      if (phase === "ended") continue;
      found.live += 1;
      found[phase] += 1;
    }
    return found;
  }
}

/**
 * Return what a live call does: its word and kind of tag.
 * @param {{state: string, legs?: {held?: boolean, held_by_phone?: boolean}[]}} call
 * @returns {{text: string, kind: string}}
 */
export function stateTag({ state, legs = [] }) {
  if (state === "bridged" && legs.some((each) => each.held || each.held_by_phone)) return { text: "on hold", kind: "bad" };
  if (state === "bridged") return { text: "talking", kind: "good" };
  return { text: STATES[state] ?? state, kind: "accent" };
}

/**
 * Return what a call's parties experience.
 * @param {LiveCall} call
 * @returns {Phase}
 */
export function phaseOf(call) {
  if (call.endedAtMs) return "ended";
  for (const leg of call.legs.values()) if (leg.isHeld) return "hold";
  if (call.state === "bridged") return "talking";
  return call.answeredMs && call.state !== "dialing" ? "menu" : "ringing";
}

/**
 * @param {LiveCall} call
 * @param {Filters} filters
 */
function matches(call, { number = "", agent = "", phase = "", direction = "" }) {
  const parties = [call.from, call.to, ...[...call.legs.values()].map((each) => each.party)];
  return (
    (!number || parties.some((each) => each.includes(number))) &&
    (!agent || [...call.agents].some((each) => each.includes(agent))) &&
    (!phase || phaseOf(call) === phase) &&
    (!direction || call.direction === direction)
  );
}

/**
 * @param {any} row
 * @returns {LiveCall}
 */
function fromDetails(row) {
  const legs = (row.legs ?? []).map((/** @type {any} */ leg) => [
    leg.channelId,
    {
      party: leg.party,
      isHeld: Boolean(leg.held || leg.held_by_phone),
      isAnswered: true,
    },
  ]);
  return {
    callId: row.callId,
    direction: row.direction,
    from: row.from,
    to: row.to,
    state: row.state,
    createdMs: row.createdMs,
    answeredMs: row.answeredMs ?? 0,
    endedAtMs: 0,
    touchedMs: 0,
    legs: new Map(legs),
    agents: new Set(row.agents ?? []),
    reason: row.reason ?? "",
    mediaFault: row.mediaFault ?? null,
  };
}

/**
 * @param {any} event
 * @returns {LiveCall}
 */
function fromEvent(event) {
  return {
    callId: event.callId,
    direction: event.direction,
    from: event.from,
    to: event.to,
    state: event.callStatus === "in-progress" ? "answered" : "starting",
    createdMs: event.timestamp,
    answeredMs: event.callStatus === "in-progress" ? event.timestamp : 0,
    endedAtMs: 0,
    touchedMs: 0,
    legs: new Map(),
    agents: new Set(),
    reason: "",
    mediaFault: null,
  };
}

/**
 * @param {LiveCall} call
 * @param {any} event
 */
function applyTo(call, event) {
  if (event.agent_id) call.agents.add(event.agent_id);
  switch (event.event) {
    case "answered":
      call.answeredMs = event.timestamp;
      if (call.state === "starting") call.state = "answered";
      break;
    case "leg-initiated":
      legOf(call, event);
      if (call.state !== "bridged") call.state = "dialing";
      break;
    case "leg-answered":
      legOf(call, event).isAnswered = true;
      call.state = "bridged";
      break;
    case "leg-completed":
      call.legs.delete(event.channelId);
      if (call.state === "dialing" || !hasOther(call)) call.state = "answered";
      break;
    case "leg-held":
      legOf(call, event).isHeld = true;
      break;
    case "media-failed":
      call.mediaFault ??= { source: event.source, reason: event.reason };
      break;
    case "completed":
      call.reason = event.reason ?? "";
      break;
    case "leg-unheld":
      legOf(call, event).isHeld = false;
      break;
  }
}

/** @param {LiveCall} call */
function hasOther(call) {
  return call.state === "bridged" && [...call.legs.values()].some((each) => each.isAnswered);
}

/**
 * @param {LiveCall} call
 * @param {any} event
 * @returns {Leg}
 */
function legOf(call, event) {
  const known = call.legs.get(event.channelId);
  if (known) return known;
  const party = event.party ?? "";
  const leg = { party, isHeld: false, isAnswered: false };
  call.legs.set(event.channelId, leg);
  return leg;
}
