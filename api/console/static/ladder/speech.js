// @ts-check
// Steps of the recognizer of a gather: its lane, what it understood, and what sounds do.

import * as say from "./wording.js";

const ENGINE = "engine";
/** @type {Record<string, string>} */
const SOUNDS = {
  paused: "a sound of the caller pauses the prompt",
  resumed: "no speech: the prompt goes on",
  flushed: "the caller speaks: the prompt ends",
};

/**
 * @param {import("./model.js").State} state
 * @param {any} event
 * @param {string} [gatherReason] why the gather ended by it, if it did
 * @returns {boolean} whether it is one of a recognizer
 */
export function recognizerEventSteps(state, event, gatherReason) {
  const { stream } = event;
  if (!state.recognizers.has(stream)) return false;
  const source = event;
  switch (event.type) {
    case "stream-connected":
      state.add("recognizer connected", { from: stream, to: ENGINE, kind: "success", source });
      return true;
    case "stream-speech-changed":
      state.add(event.isSpeaking ? "an utterance begins" : "the utterance is over", { from: stream, kind: "sound", source });
      return true;
    case "stream-interrupted":
      state.add(SOUNDS[event.outcome] ?? "", { from: stream, kind: "sound", source });
      return true;
    case "speech-understood":
      state.add(understood(event, gatherReason), { from: stream, to: ENGINE, kind: "sound", source });
      return true;
    case "stream-ended":
      state.add(`recognizer lost: ${say.shorten(event.detail || event.reason)}`, { from: stream, to: ENGINE, kind: "failure", source });
      state.endStream(stream);
      return true;
    default:
      return false;
  }
}

/**
 * @param {import("./model.js").State} state
 * @param {any} command
 * @returns {boolean} whether it is one for a recognizer or its prompt
 */
export function recognizerCommandSteps(state, command) {
  const { stream } = command;
  const source = command;
  switch (command.type) {
    case "start-stream":
      if (!command.recognition) return false;
      beginRecognizer(state, stream, command.recognition.recognizer, source);
      return true;
    case "stop-stream":
      if (!state.recognizers.has(stream)) return false;
      state.add("recognizer stopped", { to: stream, kind: "faint", source });
      state.endStream(stream);
      return true;
    case "pause-playback":
    case "resume-playback": {
      const to = state.playbacks.get(command.playback);
      if (to) state.add(command.type === "pause-playback" ? "♪ pauses" : "♪ continues", { to, kind: "faint", source });
      return true;
    }
    default:
      return false;
  }
}

/**
 * @param {import("./model.js").State} state
 * @param {string} stream
 * @param {string} name
 * @param {any} source
 */
function beginRecognizer(state, stream, name, source) {
  state.beginStream(stream, name);
  state.recognizers.set(stream, name);
  state.add(`${name} listens`, { to: stream, kind: "web", source });
  state.begin(stream, "leg", name);
}

/**
 * @param {any} event
 * @param {string} [gatherReason]
 */
export function understood(event, gatherReason) {
  if (event.text === undefined) return "the utterance has a transcript"; // agents do not see it
  if (!event.text) return event.isVoice ? "nothing understood" : "no speech, but a noise";
  const text = `understood “${say.shorten(event.text)}” (${event.confidence.toFixed(2)})`;
  return gatherReason === "no-match" ? `${text}: no match` : text;
}
