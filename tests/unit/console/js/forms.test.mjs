// Values of forms, and the fields that a problem marks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { errorsByField, toTyped, toValues } from "../../../../api/console/static/forms/values.js";

/** @type {import("../../../../api/console/static/forms/values.js").Field[]} */
const FIELDS = [
  { name: "name", label: "Name" },
  { name: "days", label: "Days", type: "number" },
  { name: "networks", label: "Networks", type: "list" },
  { name: "isOn", label: "On", type: "checkbox" },
  { name: "scopes", label: "Scopes", type: "choices", shown: (values) => values.name === "single" },
];

test("what is empty is null, and a list has its lines without blanks", () => {
  const typed = { name: "", days: "", networks: " 192.0.2.0/24 \n\n198.51.100.0/24", isOn: false };
  assert.deepEqual(toValues(FIELDS, typed), {
    name: null,
    days: null,
    networks: ["192.0.2.0/24", "198.51.100.0/24"],
    isOn: false,
  });
});

test("a field that is not shown has no value", () => {
  assert.deepEqual(toValues(FIELDS, { name: "single", days: "0", scopes: ["cdr"] }), {
    name: "single",
    days: 0,
    networks: [],
    isOn: false,
    scopes: ["cdr"],
  });
});

test("values that are shown and sent again stay the same", () => {
  const values = { name: "Ada", days: 7, networks: ["192.0.2.0/24"], isOn: true };
  const typed = Object.fromEntries(FIELDS.map((each) => [each.name, toTyped(each, values[each.name])]));
  assert.deepEqual(toValues(FIELDS, typed), values);
});

test("a time is shown in the time zone of the browser, and sent in UTC", () => {
  const field = { name: "at", label: "At", type: /** @type {const} */ ("datetime") };
  const at = "2026-11-27T10:30:00.000Z";
  assert.deepEqual(toValues([field], { at: toTyped(field, at) }), { at });
  assert.equal(toTyped(field, "no time"), "");
});

test("an error marks the field that it names, also a part of its value", () => {
  const errors = [
    { path: "networks[1]", message: "expected a network", code: "invalid" },
    { path: "name", message: "too long", code: "invalid" },
    { path: "name", message: "no text", code: "invalid" },
    { path: "other", message: "unknown", code: "invalid" },
    { path: "daysLeft", message: "unknown", code: "invalid" },
  ];
  const { found, rest } = errorsByField(FIELDS, errors);
  assert.deepEqual(found, { networks: "expected a network", name: "too long; no text" });
  assert.deepEqual(rest.map((each) => each.path), ["other", "daysLeft"]);
});
