// Where the parts of a ladder are drawn.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ROW, firstAbove, layOut, timeOf, visibleSpans, visibleSteps, yOf } from "../../../../api/console/static/ladder/layout.js";
import { buildLadder } from "../../../../api/console/static/ladder/model.js";
import { PEAK_MS, loudest, peaksOf } from "../../../../api/console/static/ladder/peaks.js";
import { long, talk, timeline } from "./timelines.mjs";

test("steps follow each other, a row apart at least, and a long wait adds a gap", () => {
  const ladder = buildLadder(talk());
  const { ys, height, textX, laneX, width } = layOut(ladder, { width: 1_000 });
  ys.slice(1).forEach((y, index) => assert.ok(y - ys[index] >= ROW, `step ${index + 1}`));
  assert.ok(ys[5] - ys[4] > ROW, "350 ms");
  assert.ok(height >= ys.at(-1) + ROW / 2);
  const xs = ladder.lanes.map((each) => laneX.get(each.id));
  assert.deepEqual(xs, [...xs].sort((a, b) => a - b));
  assert.ok(xs.at(-1) < textX && textX < width);
});

test("a narrow window keeps lanes apart: the ladder is wider than it, and scrolls", () => {
  const ladder = buildLadder(talk());
  const { width, laneX } = layOut(ladder, { width: 390, hasWave: true });
  const xs = [...laneX.values()];
  assert.ok(xs[1] - xs[0] >= 50);
  assert.ok(width > 390);
});

test("a time has a height, and the height that time", () => {
  const ladder = buildLadder(talk());
  const layout = layOut(ladder, { width: 1_000 });
  for (const ms of [1_000, 1_200, 1_455, 3_000, 5_999]) {
    assert.ok(Math.abs(timeOf(layout, yOf(layout, ms)) - Math.min(ms, layout.times.at(-1))) < 1, `${ms}`);
  }
  assert.equal(yOf(layout, 0), layout.ys[0]);
  assert.equal(yOf(layout, 1e9), layout.ys.at(-1));
});

test("an empty ladder has a height for any time", () => {
  const layout = layOut(buildLadder(timeline([])), { width: 500 });
  assert.equal(yOf(layout, 5), 0);
  assert.deepEqual(visibleSteps(layout, 0, 500), [0, 0]);
});

test("of 10,000 steps, only those within the window are drawn, soon", () => {
  const timeline = long(10_000);
  const took = [1, 2, 3].map(() => {
    const startMs = performance.now();
    layOut(buildLadder(timeline), { width: 1_000 });
    return performance.now() - startMs;
  });
  assert.ok(Math.min(...took) < 150, `${took} ms`); // the rest of 300 ms is for drawing
  const ladder = buildLadder(timeline);
  const layout = layOut(ladder, { width: 1_000 });
  const [first, end] = visibleSteps(layout, layout.ys[5_000], layout.ys[5_000] + 600);
  assert.equal(ladder.steps.length, 10_000);
  assert.ok(first < 5_000 && end > 5_010 && end - first < 80, `${first} to ${end}`);
  const spans = visibleSpans(ladder, [first, end]);
  assert.deepEqual(spans.map((each) => each.kind), ["leg"], "one that began long before");
});

test("the search finds the first value above", () => {
  const values = Float64Array.of(1, 3, 3, 7);
  assert.deepEqual([0, 1, 3, 7].map((each) => firstAbove(values, each)), [0, 1, 3, 4]);
});

test("peaks are the loudest samples of their time", () => {
  const samples = new Float32Array(8_000);
  samples[8_000 * 0.5] = -0.75;
  const peaks = peaksOf(samples, 8_000);
  assert.equal(peaks.length, 1_000 / PEAK_MS);
  assert.equal(loudest(peaks, 490, 510), 0.75);
  assert.equal(loudest(peaks, 0, 400), 0);
  assert.equal(loudest(peaks, 5_000, 6_000), 0, "after its end");
});
