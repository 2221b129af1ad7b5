// @ts-check
// Which column of a file is which field of a contact.

export const NUMBER = "phoneNumber";
/** @type {Record<string, string>} */
export const FIELDS = {
  [NUMBER]: "Number",
  fName: "First name",
  lName: "Last name",
  email: "E-mail address",
};
/** Before the name of a field that the list does not have yet. */
export const NEW = "new:";

/** In this order: "first name" is no last name, and "phone number" no name. @type {[string, RegExp][]} */
const USUAL = [
  ["email", /e-?mail/i],
  [NUMBER, /phone|mobile|cell|\btel|msisdn|number|telefon/i],
  ["lName", /last|sur|family/i],
  ["fName", /first|given|^name$/i],
];

/**
 * Propose a field for each column, by its name; columns without one are left out.
 * @param {string[]} headers
 * @param {string[]} ownFields
 */
export function proposeMappings(headers, ownFields) {
  /** @type {Record<string, string>} */
  const found = {};
  const taken = new Set();
  for (const header of headers) {
    const field = fieldOf(header, ownFields);
    if (field === null || taken.has(field)) continue;
    taken.add(field);
    found[header] = field;
  }
  return found;
}

/**
 * @param {string} header
 * @param {string[]} ownFields
 */
function fieldOf(header, ownFields) {
  const name = header.trim().toLowerCase();
  const exact = [...Object.keys(FIELDS), ...ownFields].find((each) => each.toLowerCase() === name);
  return exact ?? USUAL.find(([, pattern]) => pattern.test(header))?.[0] ?? null;
}

/**
 * Return the mappings to send, and the fields that the list needs for them.
 * @param {Record<string, string>} chosen a field for each column, with `NEW` before a new one
 */
export function toRequest(chosen) {
  const entries = Object.entries(chosen).filter(([, field]) => field);
  const newFields = entries
    .filter(([, field]) => field.startsWith(NEW))
    .map(([, field]) => field.slice(NEW.length));
  const mappings = Object.fromEntries(
    entries.map(([header, field]) => [header, field.startsWith(NEW) ? field.slice(NEW.length) : field]),
  );
  return { mappings, newFields };
}

/**
 * Return why mappings cannot be used; empty if they can.
 * @param {Record<string, string>} mappings
 */
export function mappingError(mappings) {
  const fields = Object.values(mappings);
  if (!fields.includes(NUMBER)) return "Choose the column with the numbers.";
  const twice = fields.find((each, place) => fields.indexOf(each) !== place);
  return twice ? `Two columns are mapped to ${FIELDS[twice] ?? twice}.` : "";
}
