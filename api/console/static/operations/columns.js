// @ts-check
// The columns of the tables of the page of operators.

import { html, nothing } from "../vendored/lit.js";
import { count, dateTime, size } from "../lib/format.js";

/** @typedef {import("../components/data-table.js").Column} Column */

/**
 * @param {string} tone good, warn, bad or empty
 * @param {string} text
 */
export const tag = (tone, text) => html`<span class="tag ${tone}">${text}</span>`;

/** @param {number} value */
const percent = (value) => `${(value * 100).toFixed(1)} %`;

/** @param {number | null} limit */
const ofLimit = (limit) => (limit === null ? "" : ` / ${count(limit)}`);

/** @param {string[]} names */
const list = (names) => names.map((each) => html`<div>${each}</div>`);

/** @param {any} node */
function stateOfNode(node) {
  if (!node.connected) return tag("bad", "disconnected");
  if (node.drained) return tag("warn", "drained");
  return node.unavailableReason ? tag("warn", node.unavailableReason) : tag("good", "takes calls");
}

/** @param {any} node */
function faultsOfNode(node) {
  const faults = node.unregistered.map((/** @type {string} */ each) => `not registered: ${each}`);
  if (!node.trunkReachable) faults.push("the trunk is not reachable");
  if (!node.amiConnected) faults.push("no manager interface");
  return list(faults);
}

/** @type {Column[]} */
export const NODES = [
  { title: "Node", cell: (node) => html`<code>${node.name}</code>` },
  { title: "State", cell: stateOfNode },
  { title: "Calls", number: true, cell: (node) => count(node.calls) + ofLimit(node.maxCalls) },
  { title: "At the PBX", number: true, cell: (node) => (node.coreCalls === null ? "" : count(node.coreCalls)) },
  { title: "Loss", number: true, cell: (node) => percent(node.loss) },
  { title: "Jitter", number: true, cell: (node) => `${node.jitterMs.toFixed(1)} ms` },
  { title: "Weight", number: true, cell: (node) => node.weight },
  { title: "Faults", cell: faultsOfNode },
];

/** @param {any} engine */
function stateOfEngine(engine) {
  if (!engine.isResponding) return tag("bad", "no response");
  return engine.isReady ? tag("good", "ready") : tag("bad", "not ready");
}

/** @type {Column[]} */
export const ENGINES = [
  { title: "Engine", cell: (engine) => html`<code>${engine.engine}</code>` },
  { title: "State", cell: stateOfEngine },
  { title: "Calls", number: true, cell: (engine) => count(engine.calls) + ofLimit(engine.capacity || null) },
  { title: "Shards", number: true, cell: (engine) => count(engine.shards.length) },
  { title: "Supervises", cell: (engine) => engine.supervised.join(", ") },
  { title: "Version", cell: (engine) => engine.version },
  { title: "Started", cell: (engine) => (engine.startedTime ? dateTime(engine.startedTime) : "") },
  { title: "Address", cell: (engine) => html`<code>${engine.url}</code>` },
  { title: "Dead letters", number: true, cell: (engine) => count(engine.deadLettered) },
  { title: "Faults", cell: (engine) => list(engine.faults) },
];

/** @param {any} shard */
function stateOfShard(shard) {
  if (shard.engine === null) return tag("bad", "no engine");
  if (!shard.canStore) return tag("bad", "cannot store");
  return shard.isPaused ? tag("warn", "paused") : tag("good", "runs");
}

/** @type {Column[]} */
export const SHARDS = [
  { title: "Shard", cell: (shard) => html`<code>${shard.shard}</code>` },
  { title: "State", cell: stateOfShard },
  { title: "Engine", cell: (shard) => html`<code>${shard.engine ?? ""}</code>` },
  { title: "Calls", number: true, cell: (shard) => count(shard.calls) },
  { title: "Not stored yet", number: true, cell: (shard) => count(shard.pendingChanges) },
  { title: "Lag", number: true, cell: (shard) => `${count(shard.lagMs)} ms` },
];

/** @type {Column[]} */
export const AUDIO_CACHES = [
  { title: "Engine", cell: (cache) => html`<code>${cache.engine}</code>` },
  { title: "Clips", number: true, cell: (cache) => count(cache.clips) },
  { title: "Size", number: true, cell: (cache) => size(cache.bytes) },
  { title: "In progress", number: true, cell: (cache) => count(cache.inProgress) },
  { title: "Hits", number: true, cell: (cache) => count(cache.hits) },
  { title: "Misses", number: true, cell: (cache) => count(cache.misses) },
  {
    title: "Failures",
    cell: (cache) => list(Object.entries(cache.failures).map(([reason, number]) => `${reason}: ${count(number)}`)),
  },
];

/** @type {Column[]} */
export const ALERTS = [
  {
    title: "Alert",
    cell: (alert) =>
      alert.runbookUrl
        ? html`<a href=${alert.runbookUrl} target="_blank" rel="noopener noreferrer">${alert.name}</a>`
        : alert.name,
  },
  { title: "Severity", cell: (alert) => (alert.severity ? tag("bad", alert.severity) : nothing) },
  { title: "Since", cell: (alert) => dateTime(alert.since) },
  { title: "What", cell: (alert) => html`<div class="wide break">${alert.summary}</div>` },
  {
    title: "Labels",
    cell: (alert) => list(Object.entries(alert.labels).map(([name, value]) => `${name}: ${value}`)),
  },
];

/** @type {Record<string, [string, string]>} */
const LEVELS = { FAIL: ["bad", "failed"], WARN: ["warn", "warning"], OK: ["good", "ok"] };

/** @type {Column[]} */
export const CHECKS = [
  { title: "Result", cell: (check) => tag(...(LEVELS[check.level] ?? ["", check.level])) },
  { title: "Subject", cell: (check) => check.subject },
  {
    title: "Found",
    cell: (check) => html`<div class="wide break">${check.text}</div>
      ${check.advice ? html`<div class="wide quiet break">→ ${check.advice}</div>` : nothing}`,
  },
  {
    title: "Code",
    cell: (check) =>
      check.code
        ? html`<a href="/docs/errors/${check.code}" target="_blank" rel="noopener">${check.code}</a>`
        : nothing,
  },
];

/** @type {Column[]} */
export const SERVERS = [
  { title: "Server", cell: (server) => html`<code>${server.address}</code>` },
  { title: "Kind", cell: (server) => `${server.kind} ${server.version}` },
  { title: "Role", cell: (server) => server.role },
  {
    title: "Memory",
    number: true,
    cell: (server) => size(server.usedBytes) + (server.maxBytes === null ? "" : ` / ${size(server.maxBytes)}`),
  },
  { title: "Clients", number: true, cell: (server) => count(server.clients) },
];
