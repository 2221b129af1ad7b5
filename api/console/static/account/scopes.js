// @ts-check
// What a key may do, in words: its scopes, and the bundles of them (api/auth/principal.py).

/** @type {Record<string, string>} */
export const BUNDLES = {
  owner: "everything in the account, also keys and the audit trail",
  integrator: "what a server needs: all but keys, audit trail, settings of the account, and deleting recordings",
  supervisor: "watch and control all calls, read all else; change nothing else",
  agent: "an agent's own calls and records, and nothing of others",
  "read-only": "read call records, contacts, templates, numbers, routes, agents and settings",
};

/** @type {Record<string, string>} */
export const SCOPES = {
  calls: "start, watch and control all calls",
  "calls:own": "start, watch and control an agent's own calls",
  cdr: "read, export and classify all call records",
  "cdr:own": "read, export and classify an agent's own call records",
  "contacts:read": "read contacts, their lists, and the do-not-call list",
  "contacts:write": "change contacts, their lists, and the do-not-call list",
  "contacts:export": "write contacts to files",
  "templates:read": "read message templates",
  "templates:write": "change and send message templates",
  "numbers:read": "read messaging numbers",
  "numbers:write": "change messaging numbers",
  "routes:read": "read numbers, routes, flows, API requests and callbacks",
  "routes:write": "change routes, flows, API requests and callbacks",
  "agents:read": "read agents and their presence",
  "agents:write": "change agents and the passwords of their phones",
  recordings: "list and hear recordings",
  "recordings:delete": "delete recordings",
  webhooks: "read the webhook log, and send its requests again",
  listen: "receive webhooks of numbers and calls in development",
  "account:read": "read the account's settings, limits and usage",
  "account:write": "change the account's settings, also how long its data is kept",
  jobs: "list and cancel background jobs",
  audit: "read the audit trail",
  keys: "create, rotate and revoke keys",
  operations: "run the whole installation, of all accounts; no bundle has it",
};
