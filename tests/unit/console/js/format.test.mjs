// How values are shown.

import assert from "node:assert/strict";
import { test } from "node:test";
import { duration, size } from "../../../../api/console/static/lib/format.js";

test("a duration has hours only if there are any, and is never negative", () => {
  assert.equal(duration(7_900), "0:07");
  assert.equal(duration(750_000), "12:30");
  assert.equal(duration(3_723_000), "1:02:03");
  assert.equal(duration(-5), "0:00");
});

test("a size has a unit, and decimals above bytes", () => {
  assert.equal(size(999), "999 B");
  assert.equal(size(1_000), "1.0 KB");
  assert.equal(size(2_560_000), "2.6 MB");
  assert.equal(size(5e15), "5000.0 TB");
});
