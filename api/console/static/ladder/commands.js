// @ts-check
// Steps of the commands that an engine gives; those without use for a reader have none.

import { recognizerCommandSteps } from "./speech.js";
import { streamCommandSteps } from "./streams.js";
import * as say from "./wording.js";

const ENGINE = "engine";
/** @type {Record<string, string>} */
const SOUNDS = {
  "start-hold-music": "♪ music on hold",
  "stop-hold-music": "♪ music ends",
  "start-ringing": "♪ ringback tone",
  "stop-ringing": "♪ ringback tone ends",
};

/**
 * @param {import("./model.js").State} state
 * @param {any} command
 * @param {any} moment
 */
export function commandSteps(state, command, moment) {
  const source = command;
  const { leg } = command;
  switch (command.type) {
    case "originate":
      state.leg(leg, command.party);
      state.add(`calls ${command.party}${command.callerId ? `, shows ${command.callerId}` : ""}`, { to: leg, source });
      state.begin(leg, "leg", command.party);
      break;
    case "answer":
      state.leg(leg, state.call.from);
      state.add("answers the call", { to: leg, source });
      state.begin(leg, "leg", state.call.from);
      break;
    case "hangup":
      if (state.listeners.has(leg)) state.endAll(leg);
      if (!state.snoops.has(leg)) state.add(`hang up: ${say.cause(command.cause)}`, { to: leg, source });
      break;
    case "start-talk-detection":
      state.add("answering machine detection", { to: leg, kind: "sound", source });
      break;
    case "stop-talk-detection":
      if (command.answeredBy) state.add(`answered by: ${command.answeredBy}`, { from: leg, kind: "success", source });
      break;
    case "send-webhook":
    case "send-api-request":
      addRequest(state, command);
      break;
    case "load-flow":
      state.add(`flow ${command.flowId ?? ""}`.trim(), { kind: "web", source });
      break;
    case "emit-event":
      addSession(state, command.event);
      break;
    case "start-recording":
      state.add(`recording of ${state.name(leg)} starts`, { from: leg, kind: "sound", source });
      state.begin(leg, "recording", "recorded");
      break;
    case "stop-recording":
      state.add("recording stops", { from: leg, kind: "sound", source });
      state.end(leg, "recording");
      break;
    case "mute-recording":
      state.add(`recording ${command.muted ? "pauses" : "continues"}`, { from: leg, kind: "sound", source });
      break;
    default:
      if (!recognizerCommandSteps(state, command) && !streamCommandSteps(state, command)) addMedia(state, command, moment);
  }
}

/**
 * @param {import("./model.js").State} state
 * @param {any} command
 */
function addRequest(state, command) {
  const { request } = command;
  const attempts = state.attempts.get(request) ?? [];
  const url = command.url ?? attempts[0]?.url ?? "";
  const server = state.server(url ? say.host(url) : command.api ? `API ${command.api}` : "");
  state.servers.set(request, server);
  const receiver = attempts.some((each) => each.toListener) ? " (to a listener)" : "";
  const text = requestText(command, url);
  state.add(text + receiver, { to: server, kind: "web", source: command, request, attempts });
}

/**
 * An agent sees neither addresses nor bodies.
 * @param {any} command
 * @param {string} url
 */
function requestText(command, url) {
  if (command.type === "send-api-request") return `API request ${command.api ?? ""}`.trim();
  return command.body ? `webhook ${say.shorten(url)} after ${after(command.body)}` : `webhook ${say.shorten(url)}`.trim();
}

/** @param {any} body */
function after(body) {
  if (body.event === "gather") return `gather: “${say.digits(body.dtmf ?? "")}” (${body.reason})`;
  if (body.event === "dial" && body.dial) return `dial: ${body.dial.status}`;
  return String(body.event);
}

/**
 * @param {import("./model.js").State} state
 * @param {any} event of a transfer, a conference or a member
 */
function addSession(state, event) {
  const { channelId: leg, sessionId: session } = event;
  /** @type {Record<string, string>} */
  const names = { transfer: `transfer to ${event.party ?? ""}`, conference: "conference", "conference-member": `member ${leg ? state.name(leg) : ""}` };
  const what = names[event.event];
  if (what === undefined) return;
  const key = `${session} ${event.event} ${leg ?? ""}`;
  const before = state.sessions.get(key);
  state.sessions.set(key, event.sessionState);
  const reason = event.reason ? `: ${event.reason}` : "";
  const kind = ["failed", "abandoned"].includes(event.sessionState) ? "failure" : "plain";
  const from = event.event === "conference-member" && leg ? leg : ENGINE;
  state.add(`${what}: ${before ? `${before} → ` : ""}${event.sessionState}${reason}`, { from, kind, source: event });
}

/**
 * @param {import("./model.js").State} state
 * @param {any} command
 * @param {any} moment
 */
function addMedia(state, command, moment) {
  const source = command;
  const { leg, bridge } = command;
  const sound = SOUNDS[command.type];
  if (sound && leg) {
    state.add(sound, { to: leg, kind: "sound", source });
    return;
  }
  switch (command.type) {
    case "fetch-media":
      state.add(command.sources ? say.sources(command.sources) : "fetches audio", { kind: "sound", source });
      break;
    case "play":
      state.playbacks.set(command.playback, leg);
      state.add(moment.state === "bridged" ? "♪ music" : "♪ plays the prompt", { to: leg, kind: "sound", source });
      state.begin(leg, "prompt", "plays");
      break;
    case "stop-playback": {
      const to = state.playbacks.get(command.playback);
      if (to) {
        state.add("♪ stops", { to, kind: "faint", source });
        state.end(to, "prompt");
      }
      break;
    }
    case "mute":
      state.add(`muted (${command.direction})`, { to: leg, kind: "sound", source });
      state.begin(leg, "mute", `muted (${command.direction})`);
      break;
    case "unmute":
      state.add("unmuted", { to: leg, kind: "sound", source });
      state.end(leg, "mute");
      break;
    case "snoop":
      state.snoops.set(command.snoop, leg);
      state.leg(command.snoop, `snoop on ${state.name(leg)}`);
      state.add(`listens to ${state.name(leg)}`, { to: command.snoop, source });
      state.begin(command.snoop, "leg", "snoop");
      break;
    case "listen":
      state.snoops.set(command.snoop, leg);
      state.listeners.add(command.snoop);
      state.leg(command.snoop, `fork of ${state.name(leg)}`);
      state.add(`listens to ${state.name(leg)}`, { to: command.snoop, source });
      state.begin(command.snoop, "leg", "fork");
      break;
    case "add-to-bridge": {
      const step = state.add("", { kind: "success", source });
      const members = state.join(bridge, command.legs);
      step.text = joinedText(state, members);
      step.joined = members.length > 1 ? [...members] : [];
      step.from = step.to = members[0] ?? ENGINE;
      break;
    }
    case "remove-from-bridge":
      state.add("leaves the bridge", { to: leg, source });
      state.leave(leg);
      break;
    case "destroy-bridge":
      state.add("the bridge ends", { kind: "faint", source });
      state.leave(...(state.bridges.get(bridge) ?? []));
      state.bridges.delete(bridge);
      break;
  }
}

/**
 * @param {import("./model.js").State} state
 * @param {string[]} members of a bridge
 */
function joinedText(state, members) {
  const listener = members.find((each) => state.listeners.has(each));
  if (listener) {
    const hearer = members.map((each) => state.recognizers.get(each)).find(Boolean) ?? "a bot";
    return `forked: ${hearer} hears ${state.name(state.snoops.get(listener) ?? "")}`;
  }
  return members.length > 1 ? `bridged: ${state.names(members)}` : `waits alone: ${state.names(members)}`;
}
