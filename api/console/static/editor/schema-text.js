// @ts-check
// What a schema says of a value, in words: for the text beside a completion, and for a hover.

import { stringify } from "../lib/json.js";
import { typeOf } from "./schema.js";

/**
 * @typedef {import("./schema.js").Schema} Schema
 * @typedef {import("./schema.js").SchemaReader} SchemaReader
 */

const MAX_VALUES = 12; // more would fill the screen
/** @type {Record<string, string>} */
const KINDS = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  object: "object",
  array: "list",
  null: "null",
};

/**
 * Return what is allowed, such as `whole number from 1 to 100`.
 * @param {SchemaReader} reader
 * @param {Schema} schema
 */
export function allowed(reader, schema) {
  const found = reader.alternatives(schema).map(allowedOf);
  return [...new Set(found)].filter((each) => each !== "").join(", or ");
}

/** @param {Schema} schema */
function allowedOf(schema) {
  const values = schema.enum ?? ("const" in schema ? [schema.const] : []);
  if (values.length) {
    const shown = values.slice(0, MAX_VALUES).map((/** @type {unknown} */ each) => stringify(each));
    return `one of ${shown.join(", ")}${values.length > MAX_VALUES ? ", …" : ""}`;
  }
  const kind = KINDS[typeOf(schema)] ?? "any value";
  return [kind, limits(schema)].filter((each) => each !== "").join(" ");
}

/** @param {Schema} schema */
function limits(schema) {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  if (minimum !== undefined || maximum !== undefined) return range(minimum, maximum, "");
  if (minLength !== undefined || maxLength !== undefined) return range(minLength, maxLength, " characters");
  if (minItems !== undefined || maxItems !== undefined) return range(minItems, maxItems, " items");
  return "";
}

/**
 * @param {number | undefined} least
 * @param {number | undefined} most
 * @param {string} unit
 */
function range(least, most, unit) {
  if (least !== undefined && most !== undefined) return `from ${least} to ${most}${unit}`;
  return least === undefined ? `of at most ${most}${unit}` : `of at least ${least}${unit}`;
}

/**
 * Return the lines that describe a field.
 * @param {SchemaReader} reader
 * @param {Schema} schema
 * @param {boolean} isRequired
 * @returns {string[]}
 */
export function describe(reader, schema, isRequired = false) {
  const resolved = reader.resolve(schema);
  const lines = [resolved.description ?? resolved.title ?? "", allowed(reader, schema)];
  if (isRequired) lines.push("required");
  const { default: given } = resolved;
  if (given !== undefined && given !== null) lines.push(`default: ${stringify(given)}`);
  return lines.filter((each) => each !== "");
}
