// @ts-check
// Steps of media streams: the bot's lane, who spoke when, interruptions, marks and its actions.

import * as say from "./wording.js";

const ENGINE = "engine";
/** @type {Record<string, string>} */
const INTERRUPTIONS = {
  paused: "a sound of the caller pauses the bot",
  resumed: "no speech: the bot goes on",
  flushed: "the caller speaks: the rest is dropped",
};
/** @type {Record<string, string>} */
const ACTIONS = { started: "runs the bot's action", ended: "the bot's action has ended" };

/**
 * @param {import("./model.js").State} state
 * @param {any} event
 * @returns {boolean} whether it is one of a stream
 */
export function streamEventSteps(state, event) {
  const { stream } = event;
  const source = event;
  switch (event.type) {
    case "stream-connected":
      state.leg(stream);
      state.add(event.connectMs ? `bot connected in ${event.connectMs} ms` : "bot connected", { from: stream, to: ENGINE, kind: "success", source });
      return true;
    case "stream-speech-changed":
      addSpeech(state, event);
      return true;
    case "stream-mark-reached":
      state.add(`mark ${say.shorten(event.name)} ${event.isCleared ? "flushed" : "heard"}`, { from: stream, kind: "sound", source });
      return true;
    case "stream-interrupted":
      state.add(`${INTERRUPTIONS[event.outcome]}, after ${say.seconds(event.heardMs)}`, { from: stream, kind: "sound", source });
      return true;
    case "stream-action-received": {
      const text = event.error ? `action not possible: ${event.error}` : event.action === undefined ? "an action" : say.action(event.action);
      state.add(`bot: ${text}`, { from: stream, to: ENGINE, kind: event.error ? "failure" : "web", source });
      return true;
    }
    case "stream-ended": {
      const isUsual = ["bot-closed", "stopped"].includes(event.reason);
      const detail = event.detail ? ` (${say.shorten(event.detail)})` : "";
      state.add(`stream ended: ${event.reason}${detail}`, { from: stream, to: ENGINE, kind: isUsual ? "plain" : "failure", source });
      state.endStream(stream);
      return true;
    }
    case "fork-requested":
      state.add(event.data ? `request: let ${say.host(event.data.url)} listen` : "request: let a bot listen", { source });
      return true;
    case "stream-stop-requested":
      state.add("request: stop the stream", { from: stream, source });
      return true;
    case "stream-text-requested":
      state.add(event.text ? `request: text to the bot: ${say.shorten(event.text)}` : "request: text to the bot", { from: stream, source });
      return true;
    default:
      return false;
  }
}

/**
 * @param {import("./model.js").State} state
 * @param {any} command
 * @returns {boolean} whether it is one to a stream
 */
export function streamCommandSteps(state, command) {
  const { stream } = command;
  const source = command;
  switch (command.type) {
    case "start-stream": {
      const label = command.data ? say.host(command.data.url) : "bot";
      const from = command.resume ? `, from ${say.seconds(command.resume.heardMs ?? 0)} on` : "";
      state.beginStream(stream, label);
      state.add(`stream to ${label}${from}`, { to: stream, kind: "web", source });
      state.begin(stream, "leg", label);
      return true;
    }
    case "stop-stream":
      state.add("stream stopped", { to: stream, kind: "faint", source });
      state.endStream(stream);
      return true;
    case "send-to-stream":
      state.add(messageText(command.message ?? {}), { to: stream, source });
      return true;
    default:
      return false;
  }
}

/**
 * @param {import("./model.js").State} state
 * @param {any} event
 */
function addSpeech(state, event) {
  const lane = event.by === "bot" ? event.stream : state.call.mainChannelId || event.stream;
  const latency = event.latencyMs ?? null;
  const late = latency === null ? "" : `, ${latency} ms after the caller`;
  const text = event.isSpeaking ? `speaks${late}` : "is silent";
  state.add(`the ${event.by} ${text}`, { from: lane, kind: "sound", source: event });
  if (event.isSpeaking) state.begin(lane, "prompt", `the ${event.by} speaks`);
  else state.end(lane, "prompt");
}

/** @param {any} message */
function messageText(message) {
  switch (message.type) {
    case "digit": return `digit ${say.digits(message.digit)} to the bot`;
    case "text": return `text to the bot: ${say.shorten(message.text)}`;
    case "action": return message.state === "rejected" ? `rejects the bot's action: ${message.error}` : (ACTIONS[message.state] ?? "");
    default: return "message to the bot";
  }
}
