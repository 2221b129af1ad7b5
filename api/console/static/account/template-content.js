// @ts-check
// The content of message templates: its placeholders, and what a form of it sends.

import { parse, stringify } from "../lib/json.js";
import { headerKindOf, MEDIA_FIELDS } from "./template-media.js";

const PLACEHOLDER = /\{\{\s*([A-Za-z0-9_]+)\s*\}\}/g;
const MEDIA = ["IMAGE", "VIDEO", "DOCUMENT"];
/** The component that each text stands for. @type {Record<string, string>} */
const TEXTS = { headerText: "HEADER", bodyText: "BODY", footerText: "FOOTER" };

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
 * @param {Component | null} header one with a file that was uploaded
 */
export function toRequest(values, before, header = null) {
  const { content, components, ...rest } = omit(values, MEDIA_FIELDS);
  const isJson = content === "json";
  /** @type {Record<string, unknown>} */
  const given = isJson ? omit(rest, Object.keys(TEXTS)) : rest;
  if (isJson) given.components = withHeader(componentsOf(components), header);
  const changed = Object.entries(given).filter(([name, value]) =>
    before === null ? value !== null : !isSame(value, before[name]),
  );
  const request = Object.fromEntries(changed);
  if (isJson || before === null) return isJson || !header ? request : { ...request, components: [header] };
  if (header) return { ...request, components: [header, ...kept(before.components, request)] };
  const losesFile = !values.headerKind && headerKindOf(before.components) !== "";
  return losesFile ? { ...request, headerText: values.headerText ?? null } : request;
}

/**
 * Return the components beside a header that no text of the request replaces.
 * @param {Component[]} components
 * @param {Record<string, unknown>} request
 */
function kept(components, request) {
  const texts = Object.entries(TEXTS).filter(([name]) => name in request);
  const replaced = ["HEADER", ...texts.map(([, type]) => type)];
  return components.filter(({ type }) => !replaced.includes(type));
}

/**
 * Return components with this header in place of their own.
 * @param {any} components
 * @param {Component | null} header
 */
function withHeader(components, header) {
  if (header === null || !Array.isArray(components)) return components;
  return [header, ...components.filter((each) => `${each?.type}`.toUpperCase() !== "HEADER")];
}

/**
 * Return the components, or the text for the server to say what is wrong with it.
 * @param {string | null} text
 */
function componentsOf(text) {
  try {
    return parse(text ?? "");
  } catch {
    return [text ?? ""];
  }
}

/**
 * @param {unknown} a
 * @param {unknown} b
 */
function isSame(a, b) {
  return stringify(a ?? null) === stringify(b ?? null);
}

/**
 * @param {import("../forms/values.js").Values} values
 * @param {string[]} names
 */
function omit(values, names) {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}
