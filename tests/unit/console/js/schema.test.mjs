// What an editor proposes, from the schemas that are published.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { nodeAt, parsePath } from "../../../../api/console/static/editor/json-place.js";
import { scan } from "../../../../api/console/static/editor/json-scan.js";
import { describe } from "../../../../api/console/static/editor/schema-text.js";
import { SchemaReader } from "../../../../api/console/static/editor/schema.js";

const SCHEMAS = new URL(process.env.SCHEMAS);
const read = (/** @type {string} */ name) =>
  new SchemaReader(JSON.parse(readFileSync(new URL(name, SCHEMAS), "utf8")));
const flow = read("flow.json");
const action = read("action.json");

/**
 * @param {SchemaReader} reader
 * @param {string} text
 * @param {string} path of an object
 */
function names(reader, text, path) {
  const { root } = scan(text);
  const steps = parsePath(path);
  return reader.fields(steps, root, nodeAt(root, steps)).map((each) => each.name);
}

/**
 * @param {SchemaReader} reader
 * @param {string} text
 * @param {string} path of a value
 */
function values(reader, text, path) {
  const { root } = scan(text);
  return reader.values(reader.at(parsePath(path), root));
}

test("the fields of a document come with the required ones first", () => {
  assert.deepEqual(names(flow, "{}", ""), ["start", "nodes", "name", "inputs", "kind"]);
});

test("the type of a node selects its fields", () => {
  const text = '{"nodes": {"m": {"type": "menu"}, "c": {"type": "condition"}, "x": {}}}';
  assert.deepEqual(names(flow, text, "nodes.m").slice(0, 4), ["type", "branches", "noInput", "invalid"]);
  assert.deepEqual(names(flow, text, "nodes.c"), ["type", "cases", "else"]);
  assert.ok(names(flow, text, "nodes.x").includes("success"), "any type is still possible");
  assert.ok(names(flow, text, "nodes.m.data").includes("typeAhead"));
  assert.deepEqual(names(flow, '{"nodes": {"c": {"type": "condition", "cases": [{}]}}}', "nodes.c.cases[0]"), [
    "variable", "next", "operator", "value",
  ]);
});

test("the values of a field are proposed, each once", () => {
  const types = values(flow, '{"nodes": {"x": {}}}', "nodes.x.type").map((each) => each.text);
  assert.deepEqual(types.toSorted(), [
    "condition", "dial", "flow", "gather", "goto", "hangup", "menu",
    "pause", "play", "record", "redirect", "request", "say", "set", "stream",
  ].map((each) => JSON.stringify(each)));
  const kinds = values(flow, "{}", "kind");
  assert.deepEqual(kinds.map((each) => [each.text, each.detail]), [['"message"', ""], ['"voice"', "default"]]);
  assert.match(kinds[0]?.info ?? "", /calls or messages/);
});

test("an object is proposed with its required fields", () => {
  const nodes = values(flow, '{"nodes": {"x": null}}', "nodes.x");
  const menu = nodes.find((each) => each.label === "menu");
  assert.deepEqual(JSON.parse(menu?.text ?? ""), { type: "menu", branches: {}, noInput: "", invalid: "" });
  assert.equal(nodes.length, 15);
});

test("a tree goes into itself", () => {
  const text = '{"type": "say", "data": {"text": "x"}, "action": {"type": "gather", "action": {"type": "dial"}}}';
  assert.ok(names(action, text, "action").includes("onError"));
  assert.ok(names(action, text, "action.action.data").includes("number"));
  assert.deepEqual(
    values(action, text, "action.action").filter((each) => each.text.startsWith("{")).map((each) => each.label),
    ["play", "say", "gather", "record", "pause", "stream", "dial", "flow", "redirect", "hangup"],
  );
});

test("an unknown field leads nowhere", () => {
  assert.deepEqual(names(flow, '{"x": {"y": {}}}', "x.y"), []);
  assert.deepEqual(values(flow, "{}", "nodes.constructor.toString"), []);
});

test("a field is described in words", () => {
  const { root } = scan('{"type": "play"}');
  const [loop] = action.at(["data", "loop"], root);
  assert.deepEqual(describe(action, loop ?? {}), [
    "How often the audio is played.", "whole number from 1 to 100", "default: 1",
  ]);
  const [start] = flow.at(["start"], null);
  assert.deepEqual(describe(flow, start ?? {}, true), ["The node at which the flow starts.", "text", "required"]);
});

test("every reference of the schemas is read", () => {
  for (const reader of [flow, action]) {
    for (const part of Object.values(reader.root.$defs)) {
      for (const [name, field] of Object.entries(part.properties ?? {})) {
        assert.ok(reader.alternatives(field).length > 0, name);
        assert.ok(describe(reader, field).length > 1, `${part.title}.${name}`);
      }
    }
  }
});
