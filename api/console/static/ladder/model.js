// @ts-check
// What a ladder shows: lanes, steps in their order, and spans on lanes. Made of a timeline; pure.

import { commandSteps } from "./commands.js";
import { eventSteps } from "./events.js";
import { attemptSteps, byRequest } from "./attempts.js";
import { StreamLanes } from "./stream-lanes.js";
import { action } from "./wording.js";

export const ENGINE = "engine";
const VERBLESS = new Set(["awaiting-instructions", "ending", "ended", "archiving-recordings"]);

/**
 * @typedef {"plain" | "success" | "failure" | "digit" | "sound" | "web" | "faint"} Kind
 * @typedef {"leg" | "bridge" | "hold" | "mute" | "prompt" | "verb" | "recording"} SpanKind
 * @typedef {{id: string, heading: string, label: string, kind: "leg" | "engine" | "web"}} Lane
 * @typedef {{
 *   index: number, atMs: number, text: string, kind: Kind, from: string, to: string,
 *   joined: string[], source: any, request: string, attempts: any[],
 * }} Step (from = to: a mark on a lane; `joined`: legs that are bridged)
 * @typedef {{lane: string, kind: SpanKind, text: string, fromMs: number, toMs: number | null,
 *   from: number, to: number}} Span (from and to: the steps at its ends)
 * @typedef {{lanes: Lane[], steps: Step[], spans: Span[], startMs: number, endMs: number,
 *   isLive: boolean, omitted: number}} Ladder
 */

/** What earlier steps have shown. */
export class State {
  /** @param {any} timeline */
  constructor(timeline) {
    this.call = timeline.call;
    /** @type {Map<string, Lane>} */
    this.lanes = new Map([[ENGINE, { id: ENGINE, heading: "engine", label: "", kind: "engine" }]]);
    /** @type {Step[]} */
    this.steps = [];
    /** @type {Span[]} */
    this.spans = [];
    /** @type {Map<string, Span>} by lane and kind */
    this.open = new Map();
    /** @type {Map<string, string[]>} legs by bridge */
    this.bridges = new Map();
    /** @type {Map<string, string>} the snooped leg by its snoop */
    this.snoops = new Map();
    /** @type {Set<string>} */
    this.streams = new Set();
    this.streamLanes = new StreamLanes();
    /** @type {Map<string, string>} names of recognizers by stream */
    this.recognizers = new Map();
    /** @type {Set<string>} the snoops of forks */
    this.listeners = new Set();
    /** @type {Map<string, string>} of sessions and members */
    this.sessions = new Map();
    /** @type {Map<string, string>} the leg of each playback */
    this.playbacks = new Map();
    /** @type {Map<string, string>} the lane of each request */
    this.servers = new Map();
    /** @type {Set<string>} */
    this.answered = new Set();
    /** @type {Map<string, any[]>} */
    this.attempts = byRequest(timeline.attempts ?? []);
    this.callState = "";
    this.atMs = 0;
  }

  /**
   * Return the lane of a leg; the first one is A.
   * @param {string} id
   * @param {string} [label]
   */
  leg(id, label = "") {
    id = this.place(id);
    let lane = this.lanes.get(id);
    if (lane === undefined) {
      const index = [...this.lanes.values()].filter((each) => each.kind === "leg").length;
      const round = Math.floor(index / 26);
      const heading = String.fromCharCode(65 + (index % 26)) + (round || "");
      lane = { id, heading, label: "", kind: "leg" };
      this.lanes.set(id, lane);
    }
    if (label) lane.label = label;
    return lane;
  }

  /** @param {string} id of a leg */
  place(id) {
    return this.streamLanes.of(id);
  }

  /**
   * @param {string} stream
   * @param {string} label
   */
  beginStream(stream, label) {
    this.streams.add(stream);
    this.streamLanes.begin(stream, label);
    this.leg(stream, label);
  }

  /** @param {string} stream */
  endStream(stream) {
    if (this.streamLanes.end(stream, this.leg(stream).label)) this.endAll(stream);
  }

  /** @param {string} id */
  name(id) {
    return this.leg(id).heading;
  }

  /** @param {string[]} ids of legs */
  names(ids) {
    return ids.map((id) => this.name(id)).sort().join(" and ");
  }

  /** @param {string} name of a server */
  server(name) {
    const id = `web:${name}`;
    if (!this.lanes.has(id)) this.lanes.set(id, { id, heading: "server", label: name, kind: "web" });
    return id;
  }

  /**
   * @param {string} text
   * @param {Partial<Step>} [more]
   */
  add(text, more = {}) {
    const from = this.place(more.from ?? ENGINE);
    const step = {
      index: this.steps.length,
      atMs: this.atMs,
      kind: /** @type {Kind} */ ("plain"),
      source: null,
      request: "",
      attempts: [],
      ...more,
      from,
      to: this.place(more.to ?? from),
      joined: (more.joined ?? []).map((each) => this.place(each)),
      text,
    };
    this.steps.push(step);
    return step;
  }

  /**
   * Begin a span at the latest step; one of its kind on its lane ends.
   * @param {string} lane
   * @param {SpanKind} kind
   * @param {string} [text]
   */
  begin(lane, kind, text = "") {
    lane = this.place(lane);
    this.end(lane, kind);
    const from = Math.max(0, this.steps.length - 1);
    /** @type {Span} */
    const span = { lane, kind, text, fromMs: this.atMs, toMs: null, from, to: -1 };
    this.spans.push(span);
    this.open.set(`${lane} ${kind}`, span);
  }

  /**
   * @param {string} lane
   * @param {SpanKind} kind
   */
  end(lane, kind) {
    lane = this.place(lane);
    const span = this.open.get(`${lane} ${kind}`);
    if (span === undefined) return;
    span.toMs = this.atMs;
    span.to = Math.max(span.from, this.steps.length - 1);
    this.open.delete(`${lane} ${kind}`);
  }

  /** @param {string} lane */
  endAll(lane) {
    lane = this.place(lane);
    for (const key of [...this.open.keys()]) {
      const split = key.lastIndexOf(" ");
      if (key.slice(0, split) === lane) this.end(lane, /** @type {SpanKind} */ (key.slice(split + 1)));
    }
  }

  /**
   * @param {string} bridge
   * @param {string[]} legs
   */
  join(bridge, legs) {
    this.leave(...legs);
    const members = [...(this.bridges.get(bridge) ?? []), ...legs];
    this.bridges.set(bridge, members);
    if (members.length < 2) return members;
    for (const leg of members) {
      if (!this.open.has(`${this.place(leg)} bridge`)) this.begin(leg, "bridge", `bridged with others`);
    }
    return members;
  }

  /** @param {string[]} legs */
  leave(...legs) {
    for (const [bridge, members] of this.bridges) {
      const rest = members.filter((each) => !legs.includes(each));
      if (rest.length === members.length) continue;
      this.bridges.set(bridge, rest);
      for (const leg of rest.length < 2 ? members : legs) this.end(leg, "bridge");
    }
  }
}

/** Builds the ladder of a timeline that grows: what is built once stays. */
export class LadderBuilder {
  /** @param {any} timeline */
  constructor(timeline) {
    this.state = new State(timeline);
    this.others = attemptSteps(timeline.attempts ?? []);
    this.add(timeline.moments);
    addAttempts(this.state, this.others, Infinity);
  }

  /** @param {any[]} moments that follow the earlier ones */
  add(moments) {
    for (const moment of moments) {
      addAttempts(this.state, this.others, moment.atMs);
      this.state.atMs = moment.atMs;
      addMoment(this.state, moment);
    }
  }

  /**
   * @param {any} timeline whose moments were added
   * @returns {Ladder}
   */
  ladder({ call, omitted }) {
    const { state } = this;
    const endMs = Math.max(call.endedMs || 0, state.atMs, call.createdMs);
    for (const span of state.open.values()) {
      span.to = state.steps.length - 1;
      if (call.endedMs) span.toMs = endMs;
    }
    return {
      lanes: inOrder([...state.lanes.values()]),
      steps: state.steps,
      spans: state.spans,
      startMs: call.createdMs,
      endMs,
      isLive: !call.endedMs,
      omitted: omitted ?? 0,
    };
  }
}

/**
 * Build the ladder of `GET /srmain/voice/call/{id}/timeline`.
 * @param {any} timeline
 * @returns {Ladder}
 */
export function buildLadder(timeline) {
  return new LadderBuilder(timeline).ladder(timeline);
}

/**
 * @param {State} state
 * @param {any} moment
 */
function addMoment(state, moment) {
  eventSteps(state, moment);
  const isOfVerbBefore = (/** @type {any} */ each) => each.type === "stop-playback";
  for (const command of moment.commands.filter(isOfVerbBefore)) commandSteps(state, command, moment);
  if (moment.started) {
    state.add(action(moment.started), { kind: "success", source: moment.started });
    state.begin(ENGINE, "verb", moment.started.type);
  }
  for (const command of moment.commands) {
    if (!isOfVerbBefore(command)) commandSteps(state, command, moment);
  }
  if (VERBLESS.has(moment.state)) state.end(ENGINE, "verb");
  state.callState = moment.state;
}

/**
 * Add the attempts without a step of the call that were made before a time.
 * @param {State} state
 * @param {ReturnType<typeof attemptSteps>} others
 * @param {number} untilMs
 */
function addAttempts(state, others, untilMs) {
  while (others[0] && others[0].atMs <= untilMs) {
    const other = others.shift();
    if (other === undefined) return;
    state.atMs = Math.max(state.atMs, other.atMs);
    state.add(other.text, { ...other.step, to: state.server(other.server) });
  }
}

/** @param {Lane[]} lanes legs, then the engine, then servers */
function inOrder(lanes) {
  const ranks = { leg: 0, engine: 1, web: 2 };
  return lanes.sort((a, b) => ranks[a.kind] - ranks[b.kind]);
}
