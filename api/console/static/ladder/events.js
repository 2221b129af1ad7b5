// @ts-check
// Steps of a call's events; those without use for a reader have none.

import { recognizerEventSteps, understood } from "./speech.js";
import { streamEventSteps } from "./streams.js";
import * as say from "./wording.js";

const ENGINE = "engine";
/** @type {Record<string, string>} which timer has passed, by the state before */
const TIMERS = {
  starting: "ring timeout", playing: "prompt timeout", gathering: "no digit in time",
  recording: "recording limit", pausing: "the pause is over", dialing: "ring timeout",
  bridged: "call duration limit", streaming: "the stream is over, or another try", "awaiting-instructions": "no response in time",
  detecting: "answering machine detection decided", ending: "hangup timeout",
  "archiving-recordings": "archive timeout",
};

/**
 * @param {import("./model.js").State} state
 * @param {any} moment
 */
export function eventSteps(state, { event, commands }) {
  const source = event;
  const { leg } = event;
  switch (event.type) {
    case "leg-ringing":
      state.leg(leg);
      state.add("ringing", { from: leg, to: ENGINE, source });
      break;
    case "leg-answered":
      state.leg(leg);
      state.answered.add(leg);
      state.add(event.awaitsAck ? "answered, its ACK is awaited" : "answered", { from: leg, to: ENGINE, kind: "success", source });
      break;
    case "leg-ended":
      addEnd(state, event);
      break;
    case "digit-pressed": {
      const late = event.missed ? ", while no engine was connected" : "";
      const text = `presses ${say.digits(event.digit)}${late}`;
      state.leg(leg);
      state.add(text, { from: leg, to: ENGINE, kind: "digit", source });
      break;
    }
    case "speech-recorded":
      state.leg(leg);
      state.add(understood(event, gatherReason(commands)), { from: leg, to: ENGINE, kind: "sound", source });
      break;
    case "talk-started":
      state.add("sound starts", { from: leg, to: ENGINE, kind: "sound", source });
      break;
    case "playback-ended": {
      const to = state.playbacks.get(event.playback);
      if (event.failed) state.add("the playback failed", { kind: "failure", source });
      if (to) state.end(to, "prompt");
      break;
    }
    case "media-fetched":
      if (event.faults?.length) {
        const failed = event.failed?.[0]?.source;
        const text = `audio is not available: ${event.faults.join("; ")}${failed ? `, ${say.shorten(failed)}` : ""}`;
        state.add(text, { kind: "failure", source });
      }
      for (const each of event.silent ?? []) state.add(`silent audio: ${say.shorten(each)}`, { kind: "sound", source });
      break;
    case "action-received":
    case "action-failed":
    case "api-request-succeeded":
    case "api-request-failed":
      addResponse(state, event);
      break;
    case "flow-started":
      state.add(event.flowId ? `flow ${event.flowId}, version ${event.version}` : "a flow starts", { kind: "web", source });
      break;
    case "flow-node-loaded":
      for (const each of event.faults ?? []) state.add(`a value does not fit: ${each}`, { kind: "failure", source });
      if (event.isSkipped) state.add(`node ${event.name} does not run`, { kind: "web", source });
      else state.add(event.node ? `node ${event.name}: ${say.action(event.node)}` : "the next node", { kind: "web", source });
      break;
    case "agent-named":
      state.add(`agent: ${event.name}`, { from: leg, source });
      break;
    case "bridge-failed":
    case "call-dropped": {
      const what = event.type === "bridge-failed" ? "bridging failed" : "the call was dropped";
      state.add(`${what}: ${event.reason}`, { kind: "failure", source });
      break;
    }
    case "recovered": {
      const who = event.engine ? `engine ${event.engine} took over` : "the engine is connected again";
      const gap = event.uncontrolledMs ? `, ${say.seconds(event.uncontrolledMs)} without control` : "";
      const prompt = event.uncertain?.length ? "; a prompt was perhaps not heard" : "";
      state.add(`${who}${gap}${prompt}`, { kind: "faint", source });
      break;
    }
    case "recordings-archived":
      addArchived(state, event);
      break;
    case "deadline-passed": {
      const text = gatherReason(commands)?.replaceAll("-", " ") ?? TIMERS[state.callState] ?? "timeout";
      state.add(text, { kind: "faint", source });
      break;
    }
    default:
      if (!recognizerEventSteps(state, event, gatherReason(commands)) && !streamEventSteps(state, event)) addRequest(state, event);
  }
}

/**
 * @param {any[]} commands
 * @returns {string | undefined} why a gather ended here, if one did
 */
function gatherReason(commands) {
  return commands.find((each) => each.event?.event === "gathered")?.event.reason;
}

/**
 * @param {import("./model.js").State} state
 * @param {any} event
 */
function addEnd(state, event) {
  const { leg } = event;
  const answered = state.answered.has(leg);
  const source = event;
  const isSilent = state.snoops.has(leg) || state.streams.has(leg); // why a stream ended, its gateway reports
  if (event.reason && !answered) {
    state.add(`not called: ${say.notDialed(event.reason)}`, { from: leg, kind: "failure", source });
  } else if (!isSilent) {
    const why = say.cause(event.cause, answered ? 0 : event.sipCode);
    const text = `${answered ? "hung up" : "not answered"}: ${why}`;
    const isFault = !answered || ![0, 16].includes(event.cause);
    state.add(text, { from: leg, to: ENGINE, kind: isFault ? "failure" : "plain", source });
  }
  state.leave(leg);
  if (state.streams.has(leg)) state.endStream(leg);
  else state.endAll(leg);
}

/**
 * @param {import("./model.js").State} state
 * @param {any} event
 */
function addResponse(state, event) {
  const { request } = event;
  const server = state.servers.get(request);
  const isUsable = event.type === "action-received" || event.type === "api-request-succeeded";
  const what = isUsable ? "response" : "no usable response";
  const detail = isUsable ? usable(event) : event.reason;
  const text = detail ? `${what}: ${detail}` : what;
  state.add(`${text}${server ? say.tries(event.tries ?? []) : ""}`, {
    from: server ?? ENGINE,
    to: ENGINE,
    kind: isUsable ? "web" : "failure",
    source: event,
    request,
    attempts: state.attempts.get(request) ?? [],
  });
}

/** @param {any} event which has neither values nor an action for an agent */
function usable(event) {
  if (event.values) return say.values(event.values);
  return event.action === undefined ? "" : say.action(event.action);
}

/**
 * @param {import("./model.js").State} state
 * @param {any} event
 */
function addArchived(state, event) {
  const { fault } = event;
  if (fault) {
    const text = fault === "lost" ? "the recording is lost" : `the recording is not stored yet: ${fault}`;
    state.add(text, { kind: "failure", source: event });
    return;
  }
  state.add(`recording stored: ${say.seconds(event.durationMs ?? 0)}`, { source: event });
}

/**
 * @param {import("./model.js").State} state
 * @param {any} event
 */
function addRequest(state, event) {
  const text = requestText(state, event);
  if (text) state.add(event.by ? `${text} (by ${event.by})` : text, { from: event.leg ?? ENGINE, source: event });
  const { leg } = event;
  if (event.type === "hold-requested" && event.held) state.begin(leg, "hold", "on hold");
  if (event.type === "hold-requested" && !event.held) state.end(leg, "hold");
  if (event.type === "leg-held-by-phone") state.begin(leg, "hold", "held by its phone");
  if (event.type === "leg-resumed-by-phone") state.end(leg, "hold");
}

/**
 * @param {import("./model.js").State} state
 * @param {any} event
 */
function requestText(state, event) {
  const name = (/** @type {string} */ leg) => state.name(leg);
  switch (event.type) {
    case "hangup-requested": return "request: hang up the call";
    case "leg-hangup-requested": return `request: hang up ${name(event.leg)}`;
    case "mute-requested":
      return event.direction ? `request: mute ${name(event.leg)} (${event.direction})` : `request: unmute ${name(event.leg)}`;
    case "hold-requested": return `request: ${event.held ? "hold" : "unhold"} ${name(event.leg)}`;
    case "dial-requested": return `request: call ${event.party}`;
    case "recording-requested": return `request: ${event.wanted} recording`;
    case "leg-held-by-phone": return `the phone of ${name(event.leg)} holds`;
    case "leg-resumed-by-phone": return `the phone of ${name(event.leg)} resumes`;
    case "refer-received": return `REFER to ${event.party || "another call"}`;
    case "replacement-arrived": return `arrives in place of ${name(event.replaced)}`;
    case "leg-replaced": return `takes the place of ${name(event.replaced)}`;
    case "transfer-requested":
      return `request: transfer ${name(event.customer)} from ${name(event.source)} to ${event.party}, ${event.mode}`;
    case "transfer-completion-requested": return `request: complete the transfer (${event.reason})`;
    case "transfer-cancel-requested": return `request: cancel the transfer (${event.reason})`;
    case "add-member-requested": return `request: add ${event.party} to the conference`;
    case "kick-requested": return `request: ${name(event.leg)} leaves the conference`;
    case "coach-requested":
      return `request: ${name(event.leg)} ${event.coached ? `coaches ${name(event.coached)}` : "stops coaching"}`;
    default: return "";
  }
}
