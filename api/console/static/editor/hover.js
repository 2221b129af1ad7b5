// @ts-check
// What the schema says of the name or value under the pointer.

import { formatPath, placeAt } from "./json-place.js";
import { scan } from "./json-scan.js";
import { describe } from "./schema-text.js";

/** @typedef {import("./schema.js").SchemaReader} SchemaReader */

/**
 * @param {{state: {doc: {toString(): string}}}} view
 * @param {number} at
 * @param {SchemaReader | null} schema
 */
export function hover(view, at, schema) {
  if (schema === null) return null;
  const { root } = scan(view.state.doc.toString());
  const place = placeAt(root, at);
  const lines = texts(place.path, root, schema);
  if (place.from === place.to || lines.length === 0) return null;
  return {
    pos: place.from,
    end: place.to,
    above: true,
    create: () => ({ dom: card(formatPath(place.path), lines) }),
  };
}

/**
 * @param {import("./json-place.js").Path} path
 * @param {import("./json-scan.js").JsonNode | null} root
 * @param {SchemaReader} schema
 */
function texts(path, root, schema) {
  const [found] = schema.at(path, root);
  return found === undefined ? [] : describe(schema, found);
}

/**
 * @param {string} title
 * @param {string[]} lines
 */
function card(title, lines) {
  const dom = document.createElement("div");
  dom.className = "cm-hover";
  const heading = document.createElement("code");
  heading.textContent = title;
  dom.append(heading);
  for (const each of lines) {
    const line = document.createElement("p");
    line.textContent = each;
    dom.append(line);
  }
  return dom;
}
