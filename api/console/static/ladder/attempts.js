// @ts-check
// Attempts to reach servers: those of a request, and those that no step of the call has.

import { host } from "./wording.js";

/**
 * Group attempts by their request; one that was repeated by hand is a step of its own.
 * @param {any[]} attempts
 * @returns {Map<string, any[]>}
 */
export function byRequest(attempts) {
  const found = new Map();
  for (const each of attempts) {
    if (each.retryOf) continue;
    found.set(each.requestId, [...(found.get(each.requestId) ?? []), each]);
  }
  return found;
}

/**
 * Return what is shown of status callbacks, and of requests that were repeated by hand, by time.
 * @param {any[]} attempts
 */
export function attemptSteps(attempts) {
  return attempts
    .filter((each) => each.kind === "callback" || each.retryOf)
    .sort((a, b) => a.atMs - b.atMs)
    .map((each) => {
      const what = each.retryOf ? "retry by hand" : "status callback";
      const result = each.outcome === "failed" ? each.reason : (each.status || "delivered");
      const kind = each.outcome === "failed" ? "failure" : each.retryOf ? "web" : "faint";
      return {
        atMs: each.atMs,
        server: host(each.url),
        text: `${what}: ${result} in ${each.tookMs} ms`,
        step: {
          kind: /** @type {import("./model.js").Kind} */ (kind),
          request: each.requestId,
          attempts: [each],
          source: each,
        },
      };
    });
}
