// @ts-check
// Reads a JSON Schema for an editor: what is allowed at a place, and what it means.
//
// It knows what our published schemas use: $ref, anyOf, oneOf, enum, const, properties,
// additionalProperties, items. Alternatives are told apart by the field `type` of the value.

import { stringify } from "../lib/json.js";
import { memberOf } from "./json-place.js";

/**
 * @typedef {import("./json-scan.js").JsonNode} JsonNode
 * @typedef {import("./json-place.js").Path} Path
 * @typedef {Record<string, any>} Schema
 * @typedef {{name: string, schema: Schema, isRequired: boolean}} Field
 * @typedef {{text: string, label: string, detail: string, info: string}} Suggestion
 */

const TAG = "type"; // the field that names the alternative
const MAX_REFERENCES = 50; // a chain of them that leads nowhere must end

export class SchemaReader {
  /** @param {Schema} root */
  constructor(root) {
    this.root = root;
  }

  /**
   * Return a schema with what its reference leads to; texts beside the reference come first.
   * @param {Schema} schema
   * @returns {Schema}
   */
  resolve(schema) {
    let found = schema;
    for (let count = 0; typeof found.$ref === "string" && count < MAX_REFERENCES; count += 1) {
      const { $ref, ...own } = found;
      const target = $ref
        .replace(/^#\/?/, "")
        .split("/")
        .reduce((/** @type {any} */ at, step) => (step === "" ? at : at?.[step]), this.root);
      found = { ...(target ?? {}), ...own };
    }
    return found;
  }

  /**
   * Return the alternatives of a schema, without those of other types than the value's.
   * @param {Schema} schema
   * @param {JsonNode | null} [node]
   * @returns {Schema[]}
   */
  alternatives(schema, node = null) {
    const found = this.flat(this.resolve(schema));
    if (node === null) return found;
    const tag = memberOf(node, TAG)?.value?.value;
    const ofKind = found.filter((each) => fits(each, node));
    const ofTag = ofKind.filter((each) => tag !== undefined && this.tags(each).includes(tag));
    return ofTag.length ? ofTag : ofKind.length ? ofKind : found;
  }

  /**
   * @param {Schema} schema
   * @returns {Schema[]}
   */
  flat(schema) {
    const inner = schema.anyOf ?? schema.oneOf;
    if (inner === undefined) return [schema];
    const outer = { description: schema.description, default: schema.default };
    return inner.flatMap((/** @type {Schema} */ each) =>
      this.flat(this.resolve(each)).map((found) => ({
        ...found,
        description: found.description ?? outer.description,
        ...("default" in schema && !("default" in found) ? { default: outer.default } : {}),
      })),
    );
  }

  /**
   * Return the values of the field that names an alternative.
   * @param {Schema} schema
   * @returns {unknown[]}
   */
  tags(schema) {
    const tag = schema.properties?.[TAG];
    return tag === undefined ? [] : valuesOf(this.resolve(tag));
  }

  /**
   * Return what is allowed at a path.
   * @param {Path} path
   * @param {JsonNode | null} root of the document
   * @returns {Schema[]} not narrowed by the value at the path itself
   */
  at(path, root) {
    let schemas = [this.root];
    let node = root;
    for (const step of path) {
      const inner = schemas
        .flatMap((each) => this.alternatives(each, node))
        .map((each) => childOf(each, step))
        .filter((each) => each !== undefined);
      schemas = inner;
      node = (typeof step === "number" ? node?.items[step] : memberOf(node, step)?.value) ?? null;
    }
    return schemas;
  }

  /**
   * Return the fields that an object may have, the required ones first.
   * @param {Path} path
   * @param {JsonNode | null} root
   * @param {JsonNode | null} object
   * @returns {Field[]}
   */
  fields(path, root, object) {
    /** @type {Map<string, Field>} */
    const found = new Map();
    for (const schema of this.at(path, root).flatMap((each) => this.alternatives(each, object))) {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        const isRequired = (schema.required ?? []).includes(name);
        if (!found.has(name)) found.set(name, { name, schema: field, isRequired });
      }
    }
    return [...found.values()].sort((a, b) => rank(a) - rank(b));
  }

  /**
   * Return the values that are proposed for a place.
   * @param {Schema[]} schemas
   * @returns {Suggestion[]}
   */
  values(schemas) {
    /** @type {Map<string, Suggestion>} */
    const found = new Map();
    for (const schema of schemas.flatMap((each) => this.alternatives(each))) {
      for (const each of this.suggestions(schema)) {
        if (!found.has(each.text)) found.set(each.text, each);
      }
    }
    return [...found.values()];
  }

  /**
   * @param {Schema} schema
   * @returns {Suggestion[]}
   */
  suggestions(schema) {
    const info = schema.description ?? "";
    const known = valuesOf(schema);
    if (known.length) return known.map((each) => suggestion(each, detailOf(each, schema), info));
    const kind = typeOf(schema);
    if (kind === "boolean") return [true, false].map((each) => suggestion(each, detailOf(each, schema), info));
    if (kind === "null") return [suggestion(null, detailOf(null, schema), info)];
    const { default: given = null } = schema;
    if (given !== null && given !== "" && typeof given !== "object") {
      return [suggestion(given, "default", info)];
    }
    if (kind !== "object") return [];
    const [tag] = this.tags(schema);
    const text = stringify(this.skeleton(schema), 2);
    return [{ text, label: tag === undefined ? "{}" : String(tag), detail: schema.title ?? "", info }];
  }

  /**
   * Return the smallest value of a schema: an object has its required fields.
   * @param {Schema} schema
   * @returns {unknown}
   */
  skeleton(schema) {
    const [first] = this.alternatives(schema);
    if (first === undefined) return null;
    const [known] = valuesOf(first);
    if (known !== undefined) return known;
    switch (typeOf(first)) {
      case "object":
        return Object.fromEntries(
          (first.required ?? []).map((/** @type {string} */ name) => [
            name,
            this.skeleton(first.properties?.[name] ?? {}),
          ]),
        );
      case "array":
        return [];
      case "string":
        return "";
      case "integer":
      case "number":
        return first.default ?? first.minimum ?? 0;
      case "boolean":
        return first.default ?? false;
      default:
        return null;
    }
  }
}

/** @param {Field} field */
function rank(field) {
  return field.name === TAG ? 0 : field.isRequired ? 1 : 2;
}

/**
 * @param {Schema} schema
 * @param {string | number} step
 * @returns {Schema | undefined}
 */
function childOf(schema, step) {
  if (typeof step === "number") return schema.items;
  const properties = schema.properties ?? {};
  if (Object.hasOwn(properties, step)) return properties[step];
  const more = schema.additionalProperties;
  return typeof more === "object" ? more : undefined;
}

/**
 * @param {Schema} schema
 * @returns {unknown[]}
 */
function valuesOf(schema) {
  if (Array.isArray(schema.enum)) return schema.enum;
  return "const" in schema ? [schema.const] : [];
}

/**
 * Return the type of a schema's values; empty if any is allowed.
 * @param {Schema} schema
 * @returns {string}
 */
export function typeOf(schema) {
  if (typeof schema.type === "string") return schema.type;
  const [known] = valuesOf(schema);
  if (known !== undefined) return known === null ? "null" : typeof known;
  return schema.properties ? "object" : schema.items ? "array" : "";
}

/**
 * @param {Schema} schema
 * @param {JsonNode} node
 */
function fits(schema, node) {
  const type = typeOf(schema);
  return type === "" || type === node.type || (type === "integer" && node.type === "number");
}

/**
 * @param {unknown} value
 * @param {Schema} schema
 */
function detailOf(value, schema) {
  return "default" in schema && schema.default === value ? "default" : "";
}

/**
 * @param {unknown} value
 * @param {string} detail
 * @param {string} info
 * @returns {Suggestion}
 */
function suggestion(value, detail, info) {
  const text = stringify(value);
  return { text, label: text, detail, info };
}
