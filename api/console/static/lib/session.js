// @ts-check
// Keeps the session of a page that stays open, such as a list on a wall.

import { put } from "./rest.js";

const RENEWED_EACH_MS = 20 * 60_000; // a session ends after an hour without a request of this kind

setInterval(() => {
  put("/console/session", {}).catch(() => {}); // without a server, later; without a session, rest.js
}, RENEWED_EACH_MS);
