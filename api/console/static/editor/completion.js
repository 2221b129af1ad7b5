// @ts-check
// Completion of names and values from the schema, and of names that the document itself defines.

import { stringify } from "../lib/json.js";
import { formatPath, memberOf, nodeAt, placeAt } from "./json-place.js";
import { scan } from "./json-scan.js";
import { describe } from "./schema-text.js";

/**
 * @typedef {import("./json-scan.js").JsonNode} JsonNode
 * @typedef {import("./json-place.js").Path} Path
 * @typedef {import("./json-place.js").Place} Place
 * @typedef {import("./schema.js").SchemaReader} SchemaReader
 * @typedef {(path: Path, root: JsonNode | null) => {name: string, detail: string}[]} NamesOf texts
 *   that are allowed at a path because something has that name, such as a node
 * @typedef {{label: string, apply: string, detail: string, info: string, type: string, boost: number}} Option
 * @typedef {{from: number, to: number, options: Option[]}} Proposal
 */

/**
 * @param {{pos: number, explicit: boolean, state: {doc: {toString(): string}}}} context
 * @param {SchemaReader | null} schema
 * @param {NamesOf} namesOf
 */
export function propose(context, schema, namesOf) {
  if (schema === null) return null;
  const text = context.state.doc.toString();
  const found = proposal(text, context.pos, schema, namesOf);
  if (found === null || (found.from === context.pos && !context.explicit)) return null;
  const from = text[found.from] === '"' ? found.from + 1 : found.from;
  const isAfter = context.pos === found.to && found.to > from && text[found.to - 1] === '"';
  const options = found.options.map((each) => ({ ...each, apply: insertion(each.apply) }));
  // After a whole text, all that could replace it is proposed; within it, what fits its beginning.
  return isAfter ? { from, options, filter: false } : { from, options, validFor: /^[\w-]*$/ };
}

/**
 * Return what replaces the whole text or name at the cursor, with its quotes.
 * @param {string} insert
 * @returns {(view: import("../vendored/codemirror.js").EditorView, chosen: unknown, from: number, to: number) => void}
 */
function insertion(insert) {
  return (view, _, _from, at) => {
    const { from, to } = placeAt(scan(view.state.doc.toString()).root, at);
    const selection = { anchor: from + insert.length };
    view.dispatch({ changes: { from, to, insert }, selection, userEvent: "input.complete" });
  };
}

/**
 * Return what may stand at a place of a document.
 * @param {string} text
 * @param {number} at
 * @param {SchemaReader} schema
 * @param {NamesOf} namesOf
 * @returns {Proposal | null}
 */
export function proposal(text, at, schema, namesOf) {
  const { root } = scan(text);
  const place = placeAt(root, at);
  const options = place.isKey
    ? names(place, root, schema, lineIndent(text, at))
    : values(place, root, schema, namesOf, lineIndent(text, at));
  if (options.length === 0) return null;
  return { from: place.from, to: place.to, options };
}

/**
 * @param {Place} place
 * @param {JsonNode | null} root
 * @param {SchemaReader} schema
 * @param {string} indent
 * @returns {Option[]}
 */
function names(place, root, schema, indent) {
  const own = place.path.at(-1);
  const fields = schema.fields(place.path.slice(0, -1), root, place.object);
  return fields
    .filter((each) => each.name === own || memberOf(place.object, each.name) === undefined)
    .map((each, index) => {
      const value = place.hasColon ? "" : `: ${written(schema.skeleton(each.schema), indent)}`;
      return {
        label: each.name,
        apply: stringify(each.name) + value,
        detail: each.isRequired ? "required" : "",
        info: describe(schema, each.schema).join("\n"),
        type: "property",
        boost: -index,
      };
    });
}

/**
 * @param {Place} place
 * @param {JsonNode | null} root
 * @param {SchemaReader} schema
 * @param {NamesOf} namesOf
 * @param {string} indent
 * @returns {Option[]}
 */
function values(place, root, schema, namesOf, indent) {
  const known = namesOf(place.path, root);
  const named = known.map((each, index) => {
    const text = stringify(each.name);
    return { label: each.name, apply: text, detail: each.detail, info: "", type: "variable", boost: 50 - index };
  });
  const found = nodeAt(root, place.path);
  const isBranch = found?.type === "object" || found?.type === "array";
  if (isBranch && formatPath(place.path) !== "") return named;
  const allowed = schema.values(schema.at(place.path, root)).map((each, index) => ({
    label: each.label.replace(/^"(.*)"$/, "$1"),
    apply: each.text.replaceAll("\n", `\n${indent}`),
    detail: each.detail,
    info: each.info,
    type: "constant",
    boost: -index,
  }));
  return [...named, ...allowed];
}

/**
 * @param {unknown} value
 * @param {string} indent
 */
function written(value, indent) {
  return (stringify(value, 2) ?? "null").replaceAll("\n", `\n${indent}`);
}

/**
 * @param {string} text
 * @param {number} at
 */
function lineIndent(text, at) {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}
