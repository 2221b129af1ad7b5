// The placeholders of templates, and what their form sends.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toRequest, valuesOf } from "../../../../api/console/static/account/template-content.js";
import {
  headerKindOf,
  mediaFields,
  sizeError,
  toHeader,
  toUpload,
} from "../../../../api/console/static/account/template-media.js";
import { toValues } from "../../../../api/console/static/forms/values.js";

const FILE = /** @type {any} */ ({ size: 10 });
const IMAGE = toHeader("image", "4::a");
const BODY = { type: "BODY", text: "Hello." };
const FOOTER = { type: "FOOTER", text: "Shop" };

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

test("a header with a file is a component beside the texts", () => {
  const values = { name: "a", content: "texts", headerKind: "image", imageFile: FILE, bodyText: "Hello.", footerText: null };
  assert.deepEqual(toRequest(values, null, IMAGE), { name: "a", bodyText: "Hello.", components: [IMAGE] });
  assert.deepEqual(IMAGE, { type: "HEADER", format: "IMAGE", example: { header_handle: ["4::a"] } });
});

test("another file keeps what the form does not change", () => {
  const buttons = { type: "BUTTONS", buttons: [] };
  const components = [toHeader("video", "4::v"), BODY, FOOTER, buttons];
  const before = { bodyText: "Hello.", footerText: "Shop", headerText: null, components };
  const values = { content: "texts", headerKind: "image", bodyText: "Hello.", footerText: "Shop" };
  assert.deepEqual(toRequest(values, before, IMAGE), { components: [IMAGE, BODY, FOOTER, buttons] });
  const changed = { ...values, bodyText: "Bye.", footerText: null };
  assert.deepEqual(toRequest(changed, before, IMAGE), {
    bodyText: "Bye.",
    footerText: null,
    components: [IMAGE, buttons],
  });
});

test("a text, or no header, removes the file", () => {
  const before = { bodyText: "Hello.", headerText: null, components: [IMAGE, BODY] };
  const values = { content: "texts", headerKind: "", bodyText: "Hello." };
  assert.deepEqual(toRequest({ ...values, headerText: null }, before), { headerText: null });
  assert.deepEqual(toRequest({ ...values, headerText: "New" }, before), { headerText: "New" });
  assert.deepEqual(toRequest({ ...values, headerKind: "image" }, before), {});
});

test("a file takes the place of the header in JSON", () => {
  const given = JSON.stringify([{ type: "header", format: "TEXT", text: "Hi" }, BODY]);
  const values = { content: "json", fileKind: "image", imageFile: FILE, components: given };
  assert.deepEqual(toRequest(values, null, IMAGE), { components: [IMAGE, BODY] });
  assert.deepEqual(toRequest({ ...values, components: "{" }, null, IMAGE), { components: [IMAGE, "{"] });
  assert.deepEqual(toRequest({ ...values, components: "{}" }, null, IMAGE), { components: {} });
});

test("only a file that is chosen, or missing, is uploaded", () => {
  assert.equal(toUpload({ content: "texts", headerKind: "", imageFile: FILE }, []), null);
  assert.deepEqual(toUpload({ content: "texts", headerKind: "image", imageFile: FILE }, []), { kind: "image", file: FILE });
  assert.deepEqual(toUpload({ content: "json", fileKind: "video", imageFile: FILE }, []), { kind: "video", file: null });
  assert.equal(toUpload({ content: "texts", headerKind: "image", imageFile: null }, [IMAGE]), null);
  assert.equal(headerKindOf([BODY, IMAGE]), "image");
  assert.equal(headerKindOf([{ type: "HEADER", format: "TEXT", text: "Hi" }, BODY]), "");
});

test("a form shows the file of the chosen kind only", () => {
  const typed = { content: "texts", headerKind: "document", fileKind: "image", imageFile: FILE, documentFile: FILE };
  assert.deepEqual(toValues(mediaFields(""), typed), { headerKind: "document", documentFile: FILE });
  const [image] = mediaFields("image").filter((each) => each.name === "imageFile");
  assert.equal(image?.required, false);
  assert.match(`${image?.hint}`, /at most 5 MiB/);
});

test("a file of the largest size is sent, and one byte more is an error at its field", () => {
  assert.equal(sizeError("image", { size: 5 * 1_048_576 }), null);
  assert.equal(sizeError("image", null), null);
  assert.deepEqual(sizeError("image", { size: 5 * 1_048_576 + 1 }), {
    path: "file",
    message: "larger than 5 MiB, the maximum for mediaKind image",
    code: "too_large",
  });
});
