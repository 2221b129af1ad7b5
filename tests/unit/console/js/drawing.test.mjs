// What a layout becomes on the screen.

import assert from "node:assert/strict";
import { test } from "node:test";

import { curve, fitText, loop, neighbourOf } from "../../../../api/console/static/flows/drawing.js";
import { SIZES } from "../../../../api/console/static/flows/layout.js";

const NODES = [
  { id: "a", x: 100, y: 0 },
  { id: "b", x: 0, y: 100 },
  { id: "c", x: 210, y: 100 },
  { id: "d", x: 0, y: 200 },
];

test("an edge goes from border to border", () => {
  const half = SIZES.nodeHeight / 2;
  const { path, label } = curve([{ x: 10, y: 50 }, { x: 10, y: 250 }], false, SIZES);
  assert.ok(path.startsWith(`M10 ${50 + half}C`));
  assert.ok(path.endsWith(`10 ${250 - half - 7}`));
  assert.equal(label.x, 10);
  assert.ok(label.y > 50 + half && label.y < 250 - half);
});

test("an edge back is beside the edge there", () => {
  const there = curve([{ x: 0, y: 0 }, { x: 0, y: 200 }], false, SIZES);
  const back = curve([{ x: 0, y: 200 }, { x: 0, y: 0 }], true, SIZES);
  assert.notEqual(back.label.x, there.label.x);
  assert.deepEqual(curve([], false, SIZES), { path: "", label: { x: 0, y: 0 } });
});

test("a loop is at the right of its node", () => {
  const { label } = loop({ id: "a", x: 0, y: 0 }, SIZES);
  assert.ok(label.x > SIZES.nodeWidth);
});

test("a text that is too long ends with an ellipsis", () => {
  assert.equal(fitText("short", 100), "short");
  assert.equal(fitText("a  b\nc", 100), "a b c");
  const cut = fitText("😀".repeat(50), 100);
  assert.ok(cut.endsWith("…") && [...cut].length <= 13 && !cut.includes("\ufffd"));
});

test("an arrow key leads to the nearest node in its direction", () => {
  assert.equal(neighbourOf(NODES, "a", "ArrowDown"), "b");
  assert.equal(neighbourOf(NODES, "b", "ArrowRight"), "c");
  assert.equal(neighbourOf(NODES, "c", "ArrowLeft"), "b");
  assert.equal(neighbourOf(NODES, "d", "ArrowUp"), "b");
  assert.equal(neighbourOf(NODES, "d", "ArrowDown"), null);
  assert.equal(neighbourOf(NODES, "gone", "ArrowDown"), "a");
});
