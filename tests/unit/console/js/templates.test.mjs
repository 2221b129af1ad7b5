// The placeholders of templates, and what their form sends.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toRequest, valuesOf } from "../../../../api/console/static/account/template-content.js";

test("a test message needs each placeholder once, and the files and codes of header and buttons", () => {
  const components = [
    { type: "HEADER", format: "IMAGE" },
    { type: "BODY", text: "Hello {{1}}, {{2}} and {{1}}." },
    {
      type: "BUTTONS",
      buttons: [{ type: "URL", url: "https://example.com/{{1}}" }, { type: "COPY_CODE" }],
    },
  ];
  assert.deepEqual(valuesOf(components), ["header", "1", "2", "buttons.0.1", "buttons.1.1"]);
  assert.deepEqual(valuesOf([{ type: "BODY", text: "Hello {{name}}." }]), ["name"]);
});

test("a new template is sent without what is empty", () => {
  const values = { name: "a", content: "texts", bodyText: "Hello.", headerText: null };
  assert.deepEqual(toRequest(values, null), { name: "a", bodyText: "Hello." });
});

test("of a template that exists, only changes are sent", () => {
  const before = { category: "UTILITY", headerText: null, bodyText: "Hello.", components: [{ type: "BODY" }] };
  const values = { category: "UTILITY", content: "texts", headerText: null, bodyText: "Bye." };
  assert.deepEqual(toRequest(values, before), { bodyText: "Bye." });
  const same = { ...values, content: "json", components: '[{"type": "BODY"}]' };
  assert.deepEqual(toRequest(same, before), {});
  const other = { ...values, content: "json", components: '[{"type": "FOOTER"}]' };
  assert.deepEqual(toRequest(other, before), { components: [{ type: "FOOTER" }] });
});

test("components that are no JSON go to the server, which says what is wrong", () => {
  assert.deepEqual(toRequest({ content: "json", components: "[" }, null), { components: ["["] });
});
