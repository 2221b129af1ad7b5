// @ts-check
// A parser of JSON that continues after errors: a document is read while somebody types it.
//
// It finds an error exactly where JSON.parse would; the tree has the place of each value.

const MAX_DEPTH = 500; // no document of ours is deeper, and a deeper one must not end the script
const SPACE = /[ \t\n\r]/;
const WORD = /[A-Za-z0-9+\-._]/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** @type {Record<string, {type: "boolean" | "null", value: boolean | null}>} */
const NAMES = {
  true: { type: "boolean", value: true },
  false: { type: "boolean", value: false },
  null: { type: "null", value: null },
};

/**
 * @typedef {{from: number, to: number, message: string}} SyntaxFault
 * @typedef {{
 *   key: string,
 *   keyFrom: number,
 *   keyTo: number,
 *   to: number,
 *   value: JsonNode | null,
 * }} Member
 * @typedef {{
 *   type: "object" | "array" | "string" | "number" | "boolean" | "null",
 *   from: number,
 *   to: number,
 *   value: string | number | boolean | null,
 *   members: Member[],
 *   items: JsonNode[],
 *   isClosed: boolean,
 * }} JsonNode `value` is null for objects and arrays; one without its last bracket is not closed
 * @typedef {{root: JsonNode | null, faults: SyntaxFault[]}} Scanned
 */

/**
 * Read a document.
 * @param {string} text
 * @returns {Scanned}
 */
export function scan(text) {
  const scanner = new Scanner(text);
  const root = scanner.value(0);
  scanner.space();
  if (root !== null && scanner.at < text.length) {
    scanner.fault(scanner.at, text.length, "Nothing may follow the document.");
  }
  return { root, faults: scanner.faults };
}

class Scanner {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
    /** @type {SyntaxFault[]} */
    this.faults = [];
  }

  /**
   * @param {number} from
   * @param {number} to
   * @param {string} message
   */
  fault(from, to, message) {
    this.faults.push({ from, to: Math.max(from, to), message });
  }

  space() {
    while (this.at < this.text.length && SPACE.test(this.char())) this.at += 1;
  }

  char() {
    return this.text[this.at] ?? "";
  }

  /**
   * @param {number} depth
   * @returns {JsonNode | null}
   */
  value(depth) {
    this.space();
    const from = this.at;
    const char = this.char();
    if (depth > MAX_DEPTH) {
      this.fault(from, from + 1, `More than ${MAX_DEPTH} levels.`);
      this.at = this.text.length;
      return null;
    }
    if (char === "{") return this.object(depth);
    if (char === "[") return this.array(depth);
    if (char === '"') return leaf("string", from, this.string(), this.at);
    return this.word(from);
  }

  /** @param {number} depth */
  object(depth) {
    const found = branch("object", this.at);
    this.list(found, "}", () => {
      if (this.char() !== '"') return false;
      const keyFrom = this.at;
      /** @type {Member} */
      const member = { key: this.string(), keyFrom, keyTo: this.at, to: this.at, value: null };
      found.members.push(member);
      this.space();
      if (this.char() !== ":") {
        this.fault(keyFrom, member.keyTo, "Expected a colon and a value after this name.");
        if (/[,}\]]|^$/.test(this.char())) return true;
      } else {
        this.at += 1;
      }
      member.value = this.value(depth + 1);
      member.to = this.at;
      return true;
    });
    return found;
  }

  /** @param {number} depth */
  array(depth) {
    const found = branch("array", this.at);
    this.list(found, "]", () => {
      const item = this.value(depth + 1);
      if (item !== null) found.items.push(item);
      return item !== null;
    });
    return found;
  }

  /**
   * Read the parts of an object or array, up to its end.
   * @param {JsonNode} found
   * @param {string} end
   * @param {() => boolean} part
   */
  list(found, end, part) {
    this.at += 1;
    let comma = -1; // the one before this place
    let isFirst = true;
    for (;;) {
      this.space();
      const char = this.char();
      if (char === "") {
        this.fault(found.from, found.from + 1, `There is no ${end} for this bracket.`);
        break;
      }
      if (char === end) {
        this.at += 1;
        found.isClosed = true;
        if (comma >= 0) this.fault(comma, comma + 1, "No comma is allowed before the end.");
        break;
      }
      if (char === "}" || char === "]") {
        this.fault(this.at, this.at + 1, `Expected ${end}.`);
        if (end === "]") break; // it ends the object around
        this.at += 1;
        continue;
      }
      if (char === ",") {
        if (comma >= 0 || isFirst) this.fault(this.at, this.at + 1, "Expected a value before this comma.");
        comma = this.at;
        this.at += 1;
        continue;
      }
      if (!isFirst && comma < 0) this.fault(this.at, this.at + 1, `Expected a comma or ${end}.`);
      comma = -1;
      isFirst = false;
      this.part(end, part);
    }
    found.to = this.at;
  }

  /**
   * @param {string} end
   * @param {() => boolean} part
   */
  part(end, part) {
    const from = this.at;
    if (part()) return;
    if (this.at === from) this.at += Math.max(1, this.wordLength());
    if (end === "}") this.fault(from, this.at, "Expected a name in double quotes.");
  }

  wordLength() {
    let length = 0;
    while (WORD.test(this.text[this.at + length] ?? "")) length += 1;
    return length;
  }

  /**
   * @param {number} from
   * @returns {JsonNode | null}
   */
  word(from) {
    const word = this.text.slice(from, from + this.wordLength());
    this.at = from + word.length;
    if (word === "") {
      this.fault(from, from + 1, "Expected a value.");
      return null;
    }
    if (NUMBER.test(word)) return leaf("number", from, Number(word), this.at);
    const known = Object.hasOwn(NAMES, word) ? NAMES[word] : undefined;
    if (known !== undefined) return leaf(known.type, from, known.value, this.at);
    this.fault(from, this.at, "Expected a value; a text needs double quotes.");
    return leaf("string", from, word, this.at);
  }

  /** Read a text; without its closing quote, it ends with its line. */
  string() {
    const from = this.at;
    this.at += 1;
    for (;;) {
      const char = this.char();
      if (char === "" || char === "\n" || char === "\r") {
        this.fault(from, this.at, "There is no double quote at the end of this text.");
        return this.text.slice(from + 1, this.at);
      }
      this.at += 1;
      if (char === '"') return this.decoded(from);
      if (char === "\\" && !/[\n\r]/.test(this.char())) this.at += 1;
    }
  }

  /** @param {number} from */
  decoded(from) {
    try {
      return String(JSON.parse(this.text.slice(from, this.at)));
    } catch {
      this.fault(from, this.at, "This text has a character that must be escaped, or an unknown escape.");
      return this.text.slice(from + 1, this.at - 1);
    }
  }
}

/**
 * @param {JsonNode["type"]} type
 * @param {number} from
 * @param {string | number | boolean | null} value
 * @param {number} to
 * @returns {JsonNode}
 */
function leaf(type, from, value, to) {
  return { type, from, to, value, members: [], items: [], isClosed: true };
}

/**
 * @param {"object" | "array"} type
 * @param {number} from
 */
function branch(type, from) {
  return { ...leaf(type, from, null, from), isClosed: false };
}
