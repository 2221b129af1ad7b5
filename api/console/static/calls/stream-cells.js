// @ts-check
// What a call record says of one stream, as texts.

import { duration } from "../lib/format.js";

const USUAL = new Set(["bot-closed", "stopped", "hangup", "max-duration"]);

/** @param {any} stream of a call record */
export function streamCells(stream) {
  const { turns = 0, bargeIns = 0, resumes = 0, reason } = stream;
  const again = resumes ? `, resumed ${resumes === 1 ? "once" : `${resumes} times`}` : "";
  return {
    bot: `${stream.host} (${stream.fork ? "fork, " : ""}${stream.protocol})`,
    length: duration(stream.endedMs - stream.startedMs),
    turns: String(turns),
    latency: turns ? `${stream.medianLatencyMs ?? 0} ms, at most ${stream.maxLatencyMs ?? 0} ms` : "",
    interruptions: String(bargeIns),
    ended: `${reason}${again}`,
    kind: USUAL.has(reason) ? "" : "bad",
  };
}
