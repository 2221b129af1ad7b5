// @ts-check
// Trees and flows to start from.

import { stringify } from "../lib/json.js";

/** @typedef {{name: string, title: string, text: string, isFlow: boolean}} Sample */

const SAY = { type: "say", data: { text: "Hello from Switchroom. Goodbye." } };

const GATHER = {
  type: "gather",
  data: { text: "Please enter a number of four digits.", maxDigits: 4, timeout: 8_000 },
  action: { type: "say", data: { text: "Thank you. Goodbye." } },
};

const DIAL = {
  type: "say",
  data: { text: "One moment, please." },
  action: { type: "dial", data: { number: "agent:1001" }, timeout: 20 },
};

const RECORD = {
  type: "say",
  data: { text: "Please leave a message after the tone." },
  action: { type: "record", data: { maxLength: 30, beep: true }, action: SAY },
};

const MENU = {
  name: "Menu",
  start: "menu",
  nodes: {
    menu: {
      type: "menu",
      data: { text: "Press one for the time of day, or two to leave a message." },
      branches: { 1: "time", 2: "message" },
      noInput: "again",
      invalid: "again",
    },
    again: { type: "goto", node: "menu", limit: 2, next: "bye" },
    time: { type: "say", data: { text: "It is time to build something." }, next: "bye" },
    message: { type: "record", data: { maxLength: 30 }, next: "thanks" },
    thanks: { type: "say", data: { text: "Thank you for {{record.duration}} seconds." }, next: "bye" },
    bye: { type: "hangup" },
  },
};

const CONDITION = {
  name: "Known callers",
  start: "who",
  nodes: {
    who: {
      type: "condition",
      cases: [{ variable: "custom.tier", value: "gold", next: "gold" }],
      else: "other",
    },
    gold: { type: "set", variables: { greeting: "Welcome back, and thank you." }, next: "greet" },
    other: { type: "set", variables: { greeting: "Welcome." }, next: "greet" },
    greet: { type: "say", data: { text: "{{vars.greeting}}" }, next: "bye" },
    bye: { type: "hangup" },
  },
};

/** @type {Sample[]} */
export const SAMPLES = [
  sample("say", "Say a text", SAY),
  sample("gather", "Ask for digits", GATHER),
  sample("dial", "Connect to an agent", DIAL),
  sample("record", "Take a message", RECORD),
  sample("menu", "Flow: a menu", MENU),
  sample("condition", "Flow: a condition", CONDITION),
];

/**
 * @param {string} name
 * @param {string} title
 * @param {Record<string, unknown>} document
 * @returns {Sample}
 */
function sample(name, title, document) {
  return { name, title, text: stringify(document, 2), isFlow: "nodes" in document };
}

/**
 * @param {string} name
 * @returns {Sample}
 */
export function findSample(name) {
  return /** @type {Sample} */ (SAMPLES.find((each) => each.name === name) ?? SAMPLES[0]);
}
