// What the editor completes at a cursor, which is | in these texts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { proposal, propose } from "../../../../api/console/static/editor/completion.js";
import { nodeAt } from "../../../../api/console/static/editor/json-place.js";
import { SchemaReader } from "../../../../api/console/static/editor/schema.js";
import { isExit } from "../../../../api/console/static/flows/graph.js";

const FLOW = new URL("flow.json", process.env.SCHEMAS);
const schema = new SchemaReader(JSON.parse(readFileSync(FLOW, "utf8")));
/** @type {import("../../../../api/console/static/editor/completion.js").NamesOf} */
const namesOf = (path, root) =>
  isExit(path) ? (nodeAt(root, ["nodes"])?.members ?? []).map((each) => ({ name: each.key, detail: "" })) : [];

/** @param {string} marked */
function at(marked) {
  const text = marked.replace("|", "");
  return proposal(text, marked.indexOf("|"), schema, namesOf)?.options ?? [];
}

test("fields that are there already are not proposed", () => {
  assert.deepEqual(at('{"start": "a", |}').map((each) => each.label), ["nodes", "name", "inputs", "kind"]);
  assert.deepEqual(at('{"sta|": "a"}').map((each) => each.label), ["start", "nodes", "name", "inputs", "kind"]);
});

test("a field comes with the smallest value of its type", () => {
  const texts = at('{\n  |\n}').map((each) => each.apply);
  assert.deepEqual(texts, ['"start": ""', '"nodes": {}', '"name": ""', '"inputs": []', '"kind": "message"']);
  assert.equal(at('{"star|": "a"}')[0]?.apply, '"start"', "its value stays");
});

test("an object is indented like its line", () => {
  const [play] = at('{\n  "nodes": {\n    "a": |\n  }\n}');
  assert.equal(play?.apply, '{\n      "type": "play",\n      "data": {\n        "audioUrl": ""\n      }\n    }');
});

test("where a node is named, the names of the nodes come first", () => {
  const options = at('{"start": "|", "nodes": {"one": {"type": "goto", "node": ""}, "two": {}}}');
  assert.deepEqual(options.map((each) => each.apply), ['"one"', '"two"']);
  assert.deepEqual(at('{"name": "|", "nodes": {"one": {}}}'), []);
});

test("an object that is there is not replaced", () => {
  assert.deepEqual(at('{"nodes": {"a": {}|}}').filter((each) => each.apply.startsWith("{")), []);
});

test("nothing is proposed in a space unless it is wanted", () => {
  const state = { doc: "{ }" };
  assert.equal(propose({ pos: 2, explicit: false, state }, schema, namesOf), null);
  assert.equal(propose({ pos: 2, explicit: true, state }, schema, namesOf)?.options.length, 5);
  assert.equal(propose({ pos: 2, explicit: true, state }, null, namesOf), null);
});

test("within a text its beginning selects, after it everything is proposed", () => {
  const doc = '{"kind": "voice"}';
  const within = propose({ pos: 12, explicit: false, state: { doc } }, schema, namesOf);
  assert.equal(within?.from, 10);
  assert.ok(within !== null && "validFor" in within);
  const after = propose({ pos: 16, explicit: true, state: { doc } }, schema, namesOf);
  assert.ok(after !== null && "filter" in after && after.filter === false);
});
