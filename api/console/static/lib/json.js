// @ts-check
// JSON that keeps its numbers: an integer beyond 2^53, which a number would round, is a BigInt.

const TOKEN = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/g; // the texts and numbers of what is valid
const INTEGER = /^-?\d+$/;
const LONG = /\d{16}/; // shorter integers are below 2^53
/** What the text of a number begins with where JSON is parsed or written: no document has it. */
const MARK = `${crypto.getRandomValues(new Uint32Array(4)).join("-")}:`;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, "g");

/**
 * Return the value of a text; raises SyntaxError.
 * @param {string} text
 * @returns {any}
 */
export function parse(text) {
  const value = JSON.parse(text);
  if (!LONG.test(text)) return value;
  return JSON.parse(marked(text, isBig), (_, each) =>
    typeof each === "string" && each.startsWith(MARK) ? BigInt(each.slice(MARK.length)) : each,
  );
}

/**
 * Return the text of a value, as JSON.stringify does.
 * @param {unknown} value
 * @param {number} [indent]
 */
export function stringify(value, indent) {
  return bare(JSON.stringify(value, (_, each) => toMarked(each), indent));
}

/**
 * Return a text with line breaks and its numbers as they are; one that is no JSON as it is.
 * @param {string} text
 */
export function pretty(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  return bare(JSON.stringify(JSON.parse(marked(text, () => true)), null, 2));
}

/** @param {string} token */
function isBig(token) {
  return INTEGER.test(token) && !Number.isSafeInteger(Number(token));
}

/**
 * @param {string} text
 * @param {(token: string) => boolean} isMarked which numbers
 */
function marked(text, isMarked) {
  return text.replace(TOKEN, (token) =>
    token.startsWith('"') || !isMarked(token) ? token : `"${MARK}${token}"`,
  );
}

/** @param {unknown} value a large number that is no BigInt is a float, and stays one */
function toMarked(value) {
  if (typeof value === "bigint") return `${MARK}${value}`;
  const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLarge ? `${MARK}${Number(value).toExponential()}` : value;
}

/** @param {string | undefined} text none if the value is undefined */
function bare(text) {
  return /** @type {string} */ (text?.replaceAll(MARKED, "$1"));
}
