// @ts-check
// The codec of a call and the quality of its network, from reports of its connection.

const GOOD_MOS = 4;
const FAIR_MOS = 3.4;
/** Names of codecs, by their media type in lower case. @type {Record<string, string>} */
const CODECS = {
  "audio/pcmu": "G.711 µ-law",
  "audio/pcma": "G.711 A-law",
  "audio/g722": "G.722",
  "audio/opus": "Opus",
};

/**
 * @typedef {{packets: number, lost: number, jitterMs: number, rttMs: number, codec: string}} Report
 * `codec`: of the audio that arrives; empty: none has arrived yet
 * @typedef {{lossPct: number, jitterMs: number, rttMs: number, mos: number, text: string}} Quality
 */

/**
 * Read what a connection has received so far.
 * @param {RTCPeerConnection} connection
 * @returns {Promise<Report>}
 */
export async function readReport(connection) {
  const report = { packets: 0, lost: 0, jitterMs: 0, rttMs: 0, codec: "" };
  const stats = await connection.getStats();
  for (const each of stats.values()) {
    if (each.type === "inbound-rtp" && each.kind === "audio") {
      report.codec ||= codecName(stats.get(each.codecId)?.mimeType ?? "");
      report.packets += each.packetsReceived ?? 0;
      report.lost += each.packetsLost ?? 0;
      report.jitterMs = (each.jitter ?? 0) * 1_000;
    } else if (each.type === "candidate-pair" && each.nominated) {
      report.rttMs = (each.currentRoundTripTime ?? 0) * 1_000;
    }
  }
  return report;
}

/** @param {string} mimeType */
function codecName(mimeType) {
  return CODECS[mimeType.toLowerCase()] ?? mimeType.replace("audio/", "");
}

/**
 * Return the quality between two reports: MOS by the E-model for G.711 (ITU-T G.107, simplified).
 * @param {Report} before
 * @param {Report} after
 * @returns {Quality}
 */
export function qualityOf(before, after) {
  const lost = Math.max(0, after.lost - before.lost);
  const packets = Math.max(0, after.packets - before.packets);
  const lossPct = lost + packets === 0 ? 0 : (100 * lost) / (lost + packets);
  const { jitterMs, rttMs } = after;
  const delayMs = rttMs / 2 + 2 * jitterMs + 20;
  const delayFactor = 0.024 * delayMs + (delayMs > 177.3 ? 0.11 * (delayMs - 177.3) : 0);
  const rating = Math.max(0, Math.min(100, 93.2 - delayFactor - (95 * lossPct) / (lossPct + 4.3)));
  const mos = 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6;
  const text = mos >= GOOD_MOS ? "good" : mos >= FAIR_MOS ? "fair" : "poor";
  return { lossPct, jitterMs, rttMs, mos, text };
}
