// @ts-check
// Values of forms: what a form asks for, what its inputs show, and what it sends.

/**
 * @typedef {Object} Field
 * @property {string} name of the value, and of the field in REST's problems
 * @property {string} label
 * @property {"text" | "number" | "password" | "textarea" | "select" | "checkbox" | "choices" |
 *   "list" | "date" | "datetime" | "file" | "email" | "search" | "json"} [type] `choices`: several of
 *   the options, `list`: an array, one entry a line, `json`: a text with JSON in it; text if absent
 * @property {string | string[]} [path] of the value in the request, if it is not the name
 * @property {unknown} [hint]
 * @property {{value: string, label: string, hint?: string}[]} [options]
 * @property {Record<string, any> | null} [schema] of JSON
 * @property {boolean} [required]
 * @property {boolean} [fixed] it is shown, and cannot be changed
 * @property {number} [min]
 * @property {number} [max]
 * @property {number | "any"} [step]
 * @property {number} [maxLength]
 * @property {string} [placeholder]
 * @property {string} [accept] of a file
 * @property {string} [autocomplete]
 * @property {number} [rows] of a textarea
 * @property {(values: Values) => boolean} [shown] whether the other values make it necessary
 *
 * @typedef {Record<string, any>} Values
 */

/**
 * Return the values of a form: empty texts and numbers are null, lists are arrays.
 * @param {Field[]} fields
 * @param {Values} typed
 */
export function toValues(fields, typed) {
  /** @type {Values} */
  const values = {};
  for (const field of fields) {
    if (field.shown && !field.shown(typed)) continue;
    values[field.name] = toValue(field, typed[field.name]);
  }
  return values;
}

/**
 * @param {Field} field
 * @param {any} typed
 */
function toValue(field, typed) {
  switch (field.type) {
    case "number":
      return typed === "" || typed === null || typed === undefined ? null : Number(typed);
    case "checkbox":
      return Boolean(typed);
    case "choices":
      return typed ?? [];
    case "list":
      return lines(typed);
    case "datetime":
      return typed ? new Date(typed).toISOString() : null;
    case "file":
      return typed ?? null;
    default:
      return typed === "" || typed === undefined ? null : typed;
  }
}

/** @param {any} typed */
function lines(typed) {
  if (Array.isArray(typed)) return typed;
  return String(typed ?? "")
    .split("\n")
    .map((each) => each.trim())
    .filter(Boolean);
}

/**
 * Return what an input shows of a value, as `toValues` returns it.
 * @param {Field} field
 * @param {any} value
 */
export function toTyped(field, value) {
  if (field.type === "list") return Array.isArray(value) ? value.join("\n") : (value ?? "");
  if (field.type === "datetime") return value ? toLocal(value) : "";
  if (field.type === "checkbox") return Boolean(value);
  if (field.type === "choices") return value ?? [];
  if (field.type === "file") return null;
  if (field.type === "select" && value === undefined) return field.options?.[0]?.value ?? "";
  return value ?? "";
}

/**
 * Return a time as an input of the type datetime-local has it.
 * @param {string} time RFC 3339, or already local
 */
function toLocal(time) {
  const at = new Date(time);
  if (Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/**
 * Sort a problem's errors by the fields that they name; those of no field are left over.
 * @param {Field[]} fields
 * @param {import("../lib/rest.js").FieldError[]} errors
 */
export function errorsByField(fields, errors) {
  /** @type {Record<string, string>} */
  const found = {};
  const rest = [];
  for (const error of errors) {
    const field = fields.find((each) => pathsOf(each).some((path) => isWithin(error.path, path)));
    if (field === undefined) rest.push(error);
    else found[field.name] = [found[field.name], messageOf(field, error)].filter(Boolean).join("; ");
  }
  return { found, rest };
}

/**
 * @param {Field} field
 * @param {import("../lib/rest.js").FieldError} error
 */
function messageOf(field, { path, message }) {
  return field.type === "json" ? `${path}: ${message}` : message;
}

/** @param {Field} field */
function pathsOf(field) {
  return [field.path ?? field.name].flat();
}

/**
 * @param {string} path
 * @param {string} whole
 */
function isWithin(path, whole) {
  return path === whole || path.startsWith(`${whole}.`) || path.startsWith(`${whole}[`);
}
