// JSON: the parser that continues after errors, its places, and numbers that a double does not hold.

import assert from "node:assert/strict";
import { test } from "node:test";

import { formatPath, nodeAt, parsePath, placeAt, rangeOf } from "../../../../api/console/static/editor/json-place.js";
import { scan } from "../../../../api/console/static/editor/json-scan.js";
import { parse, pretty, stringify } from "../../../../api/console/static/lib/json.js";

/** @param {any} node */
function toValue(node) {
  if (node === null) return undefined;
  if (node.type === "object") {
    return Object.fromEntries(node.members.map((each) => [each.key, toValue(each.value)]));
  }
  return node.type === "array" ? node.items.map(toValue) : node.value;
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const DOCUMENT = '{"start": "a", "nodes": {"a": {"type": "say", "cases": [{"next": "b"}, 1.5e3, null, true, "\\u00e6\\n"]}}}';

test("a document without errors has the values of JSON.parse", () => {
  const { root, faults } = scan(DOCUMENT);
  assert.deepEqual(faults, []);
  assert.deepEqual(toValue(root), JSON.parse(DOCUMENT));
});

test("an error is found exactly where JSON.parse finds one", () => {
  let seed = 7;
  const random = (/** @type {number} */ below) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const signs = ['{', '}', '[', ']', ',', ':', '"', '\\', 'a', '1', '-', ' ', '\n', 'null', '"a"', '\t', '\u0001'];
  for (let round = 0; round < 20_000; round += 1) {
    let text = round % 2 ? DOCUMENT : '{"a": [1, {"b": ""}], "c": null}';
    for (let change = random(3); change >= 0; change -= 1) {
      const at = random(text.length + 1);
      text = text.slice(0, at) + signs[random(signs.length)] + text.slice(at + random(3));
    }
    const { faults } = scan(text);
    assert.equal(faults.length === 0, isJson(text), JSON.stringify([text, faults]));
    for (const { from, to } of faults) assert.ok(from >= 0 && from <= to && to <= text.length + 1);
  }
});

test("what follows an error is read", () => {
  const { root, faults } = scan('{"a": , "b": yes, "c" 1, "d": [1 2,], "e": "x');
  assert.deepEqual(toValue(root), { a: undefined, b: "yes", c: 1, d: [1, 2], e: "x" });
  assert.equal(faults.length, 7);
});

test("depth has an end", () => {
  assert.match(scan("[".repeat(100_000)).faults[0]?.message ?? "", /500 levels/);
});

test("a path is read as it is written", () => {
  assert.deepEqual(parsePath("nodes.menu.cases[12].next"), ["nodes", "menu", "cases", 12, "next"]);
  assert.equal(formatPath(["nodes", "a-b", 0, "x"]), "nodes.a-b[0].x");
  assert.deepEqual(parsePath(""), []);
});

test("an error is shown at its value, or at what is nearest to it", () => {
  const { root } = scan(DOCUMENT);
  const shown = (/** @type {string} */ path) => {
    const { from, to } = rangeOf(root, parsePath(path));
    return DOCUMENT.slice(from, to);
  };
  assert.equal(shown("start"), '"a"');
  assert.equal(shown("nodes.a.type"), '"say"');
  assert.equal(shown("nodes.a.cases[0].next"), '"b"');
  assert.equal(shown("nodes.a"), '"a"');
  assert.equal(shown("nodes.a.missing.deeper"), '"a"');
  assert.equal(shown("nodes.a.cases[7]"), '"cases"');
  assert.equal(shown(""), "{");
  assert.equal(nodeAt(root, parsePath("nodes.a.cases[1]"))?.value, 1_500);
  assert.equal(nodeAt(root, ["nodes", "b", "cases"]), null);
});

test("a cursor is in a name or in a value", () => {
  /** @param {string} marked */
  const place = (marked) => {
    const at = marked.indexOf("|");
    const { path, isKey, hasColon } = placeAt(scan(marked.replace("|", "")).root, at);
    return `${isKey ? "name" : "value"} ${formatPath(path)}${hasColon ? " :" : ""}`;
  };
  assert.equal(place('{|}'), "name ");
  assert.equal(place('{"a|": 1}'), "name a :");
  assert.equal(place('{"a": |}'), "value a :");
  assert.equal(place('{"a": 1|}'), "value a :");
  assert.equal(place('{"a": 1, |}'), "name ");
  assert.equal(place('{"a": , |}'), "name ");
  assert.equal(place('{"a": {"b": "x|"}, "c": 1}'), "value a.b :");
  assert.equal(place('{"a": {|'), "name a.");
  assert.equal(place('{"a": {"b": "|'), "value a.b :");
  assert.equal(place('{"a": [1, {"b": |}]}'), "value a[1].b :");
  assert.equal(place('{"a": [1, |]}'), "value a[1]");
  assert.equal(place('{"a": [|]}'), "value a[0]");
  assert.equal(place("|"), "value ");
});

const KEPT = [
  '{"crmId":1234567890123456789}',
  "[18446744073709551615,-9223372036854775808,9007199254740993,-9007199254740993]",
  "123456789012345678901234567890",
  '{"text":"1234567890123456789, \\"1234567890123456789\\": \\\\","1234567890123456789":9007199254740992}',
  '{"float":[1e+20,1.5e+300,0.1234567890123456,1.7976931348623157e+308],"small":[9007199254740991,0,-1]}',
  '{"__proto__":{"a":1234567890123456789},"n":null}',
];

test("what is read is written as it was", () => {
  for (const text of KEPT) assert.equal(stringify(parse(text)), text);
});

test("only integers that a number would round are no numbers", () => {
  const numbers = "[9007199254740991, 0.1234567890123456, 1e20, -9007199254740991, 9007199254740992]";
  assert.deepEqual(parse(numbers), [9007199254740991, 0.1234567890123456, 1e20, -9007199254740991, 9007199254740992n]);
});

test("what JSON.parse rejects is rejected", () => {
  const long = "1234567890123456789";
  for (const text of [`0${long}`, `{${long}: 1}`, `+${long}`, `.${long}`, `${long}n`, `"${long}`, `[${long},]`, ""]) {
    assert.throws(() => parse(text), SyntaxError, text);
  }
});

test("values without JSON are left out", () => {
  assert.equal(stringify({ a: undefined, b: [undefined, Infinity] }, 1), '{\n "b": [\n  null,\n  null\n ]\n}');
  assert.equal(stringify(undefined), undefined);
});

test("a body is shown with its numbers as they are", () => {
  assert.equal(pretty('{"a":[1.0,1E5,-0.0,1e400,1234567890123456789],"b":"1.0"}').replaceAll(/\s/g, ""),
    '{"a":[1.0,1E5,-0.0,1e400,1234567890123456789],"b":"1.0"}');
  assert.equal(pretty('{"a":'), '{"a":');
  assert.equal(pretty("{1.0: 2}"), "{1.0: 2}");
});
