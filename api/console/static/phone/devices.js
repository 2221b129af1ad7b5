// @ts-check
// Microphones and speakers, and the choice of a person, which the browser remembers.

const MICROPHONE = "switchroom-microphone";
const SPEAKER = "switchroom-speaker";

/** @typedef {{id: string, label: string}} Device */

/** @returns {Promise<{microphones: Device[], speakers: Device[]}>} */
export async function listDevices() {
  const found = await navigator.mediaDevices.enumerateDevices();
  /** @param {MediaDeviceKind} kind */
  const of = (kind) =>
    found
      .filter((each) => each.kind === kind && each.deviceId)
      .map((each, index) => ({ id: each.deviceId, label: each.label || `Device ${index + 1}` }));
  return { microphones: of("audioinput"), speakers: of("audiooutput") };
}

export function chosenMicrophone() {
  return localStorage.getItem(MICROPHONE) ?? "";
}

export function chosenSpeaker() {
  return localStorage.getItem(SPEAKER) ?? "";
}

/** @param {string} id */
export function chooseMicrophone(id) {
  localStorage.setItem(MICROPHONE, id);
}

/** @param {string} id */
export function chooseSpeaker(id) {
  localStorage.setItem(SPEAKER, id);
}

/**
 * Open the chosen microphone, or another one if it is not there; raises an Error with the reason.
 * @returns {Promise<MediaStream>}
 */
export async function openMicrophone() {
  if (!navigator.mediaDevices) {
    throw new Error("The browser gives the microphone to pages over https only.");
  }
  const id = chosenMicrophone();
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: id ? { deviceId: id } : true });
  } catch (error) {
    throw new Error(reasonOf(error));
  }
}

/** @param {unknown} error */
function reasonOf(error) {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError") return "The browser may not use the microphone: allow it for this page.";
  if (name === "NotFoundError") return "There is no microphone.";
  if (name === "NotReadableError") return "Another program uses the microphone.";
  return `The microphone cannot be used: ${error}`;
}
