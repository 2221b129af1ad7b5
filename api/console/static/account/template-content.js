// @ts-check
// The content of message templates: its placeholders, and what a form of it sends.

const PLACEHOLDER = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g;
const MEDIA = ["IMAGE", "VIDEO", "DOCUMENT"];
const TEXTS = ["headerText", "bodyText", "footerText"];

/** @typedef {{type: string, text?: string, format?: string, buttons?: any[]}} Component */

/**
 * Return the values that a test message needs, as `test-send` names them.
 * @param {Component[]} components
 * @returns {string[]}
 */
export function valuesOf(components) {
  const found = new Set();
  for (const { type, text, format, buttons = [] } of components) {
    if (type === "HEADER" && MEDIA.includes(format ?? "")) found.add("header");
    for (const name of placeholdersIn(text)) found.add(name);
    buttons.forEach((button, place) => {
      for (const name of placeholdersIn(button.url)) found.add(`buttons.${place}.${name}`);
      if (button.type === "COPY_CODE") found.add(`buttons.${place}.1`);
    });
  }
  return [...found];
}

/** @param {string | undefined} text */
function placeholdersIn(text) {
  return [...(text ?? "").matchAll(PLACEHOLDER)].map((each) => each[1] ?? "");
}

/**
 * Return the request of a form; of a template that exists, what has changed.
 * @param {import("../forms/values.js").Values} values
 * @param {any} before the template; null: it is new
 */
export function toRequest(values, before) {
  const { content, components, ...rest } = values;
  /** @type {Record<string, unknown>} */
  const given = content === "json" ? omit(rest, TEXTS) : rest;
  if (content === "json") given.components = parse(components);
  const changed = Object.entries(given).filter(([name, value]) =>
    before === null ? value !== null : !isSame(value, before[name]),
  );
  return Object.fromEntries(changed);
}

/**
 * Return the components, or the text for the server to say what is wrong with it.
 * @param {string | null} text
 */
function parse(text) {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return [text ?? ""];
  }
}

/**
 * @param {unknown} a
 * @param {unknown} b
 */
function isSame(a, b) {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

/**
 * @param {Record<string, unknown>} values
 * @param {string[]} names
 */
function omit(values, names) {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}
