// The graph of a flow, and how it is laid out.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { exitsOf, graphOf, isExit } from "../../../../api/console/static/flows/graph.js";
import { SIZES, layOut, spread } from "../../../../api/console/static/flows/layout.js";

const EXAMPLE = JSON.parse(
  readFileSync(new URL("../../../../docs/examples/support-flow.json", import.meta.url), "utf8"),
);
const layOutGraph = (/** @type {any} */ graph) => layOut(graph.start, graph.nodes, graph.edges);

/** @param {import("../../../../api/console/static/flows/layout.js").Layout} layout */
function assertApart(layout) {
  for (const [index, a] of layout.nodes.entries()) {
    for (const b of layout.nodes.slice(index + 1)) {
      const isApart = a.y !== b.y || Math.abs(a.x - b.x) >= SIZES.nodeWidth + SIZES.gapX - 0.01;
      assert.ok(isApart, `${a.id} and ${b.id} overlap`);
    }
  }
  for (const { x, y } of [...layout.nodes, ...layout.edges.flatMap((each) => each.points)]) {
    assert.ok(x >= 0 && y >= 0 && x <= layout.width && y <= layout.height);
  }
}

test("the graph of a flow has its nodes and exits", () => {
  const graph = graphOf(EXAMPLE);
  assert.equal(graph.start, EXAMPLE.start);
  assert.deepEqual(graph.nodes.map((each) => each.id), Object.keys(EXAMPLE.nodes));
  const menu = graph.edges.filter((each) => each.from === "menu");
  assert.ok(menu.some((each) => each.labels.includes("1")));
  assert.deepEqual(menu.find((each) => each.to === "again")?.labels, ["no input", "invalid"]);
});

test("several exits to one node are one edge", () => {
  const node = { type: "menu", branches: { 1: "a", 2: "a" }, noInput: "b", invalid: "a" };
  const graph = graphOf({ start: "m", nodes: { m: node, a: {}, b: {} } });
  assert.deepEqual(graph.edges, [
    { from: "m", to: "a", labels: ["1", "2", "invalid"] },
    { from: "m", to: "b", labels: ["no input"] },
  ]);
});

test("a node says what it does in a few words", () => {
  const nodes = {
    a: { type: "condition", cases: [{ variable: "custom.tier", value: "gold" }, { variable: "digits", operator: "exists" }] },
    b: { type: "goto", node: "a" },
    c: { type: "set", variables: { x: 1, y: 2 } },
    d: { type: "pause", data: { length: 3 } },
    e: { type: "play", data: { audioUrl: ["https://a", "https://b"] } },
  };
  assert.deepEqual(graphOf({ start: "a", nodes }).nodes.map((each) => each.text), [
    "custom.tier = gold; digits exists", "a, at most 10 times", "x, y", "3 s", "https://a, https://b",
  ]);
});

test("a document that is half written has a graph", () => {
  for (const odd of [null, 7, "", [], {}, { nodes: [] }, { nodes: null }, { type: 5, action: [] }]) {
    assert.ok(layOutGraph(graphOf(odd)));
  }
  const graph = graphOf({ start: 1, nodes: { a: null, b: { next: {} }, c: { next: "x", cases: [3, { next: "a" }] } } });
  assert.deepEqual(graph.nodes.map((each) => [each.id, each.isMissing]), [
    ["a", false], ["b", false], ["c", false], ["x", true],
  ]);
  assertApart(layOutGraph(graph));
});

test("a redirect shows its address, and leads to its fallback", () => {
  const data = { url: "https://example.com/x", fallback: { type: "hangup" } };
  const graph = graphOf({ type: "redirect", data });
  assert.deepEqual(graph.nodes.map((each) => [each.path, each.text]), [["", data.url], ["data.fallback", ""]]);
  assert.deepEqual(graph.edges.map((each) => each.labels), [["fallback"]]);
});

test("a tree has a graph, too", () => {
  const tree = { type: "say", data: { text: "Hi" }, action: { type: "gather", action: "https://example.com/x" } };
  const graph = graphOf(tree);
  assert.deepEqual(graph.nodes.map((each) => [each.path, each.type, each.text]), [
    ["", "say", "Hi"], ["action", "gather", ""], ["action.action", "webhook", "https://example.com/x"],
  ]);
  assert.equal(graph.edges.length, 2);
});

test("the places that name a node are known", () => {
  const paths = [["start"], ["nodes", "a", "next"], ["nodes", "a", "branches", "1"], ["nodes", "a", "cases", 0, "next"]];
  assert.ok(paths.every(isExit));
  assert.ok(![["name"], ["nodes", "a", "type"], ["nodes", "a", "data", "text"], ["nodes", "a"], []].some(isExit));
  assert.deepEqual(exitsOf({ type: "goto", node: "a", next: "b" }), [{ label: "", to: "b" }, { label: "go to", to: "a" }]);
});

test("the start is at the top, and each node is below those that lead to it", () => {
  const graph = graphOf(EXAMPLE);
  const layout = layOutGraph(graph);
  assertApart(layout);
  const ys = new Map(layout.nodes.map((each) => [each.id, each.y]));
  assert.equal(ys.get(graph.start), Math.min(...ys.values()));
  for (const { index, isBackward } of layout.edges) {
    const { from, to } = /** @type {any} */ (graph.edges[index]);
    assert.ok(isBackward ? ys.get(from) > ys.get(to) : ys.get(from) < ys.get(to), `${from} to ${to}`);
  }
  assert.ok(layout.edges.some((each) => each.isBackward), "the menu is repeated");
});

test("an edge begins at its node and ends at the next one", () => {
  const graph = graphOf(EXAMPLE);
  const layout = layOutGraph(graph);
  const middle = (/** @type {string} */ id) => {
    const { x, y } = /** @type {any} */ (layout.nodes.find((each) => each.id === id));
    return { x: x + SIZES.nodeWidth / 2, y: y + SIZES.nodeHeight / 2 };
  };
  for (const { index, points } of layout.edges) {
    const { from, to } = /** @type {any} */ (graph.edges[index]);
    assert.deepEqual([points[0], points.at(-1)], [middle(from), middle(to)]);
  }
});

test("a chain is straight, and a fork is symmetric", () => {
  const chain = layOut("a", [{ id: "a" }, { id: "b" }], [{ from: "a", to: "b" }]);
  assert.equal(chain.nodes[0]?.x, chain.nodes[1]?.x);
  const fork = layOut("a", [{ id: "a" }, { id: "b" }, { id: "c" }], [{ from: "a", to: "b" }, { from: "a", to: "c" }]);
  const [a, b, c] = fork.nodes.map((each) => each.x);
  assert.ok(Math.abs(Number(a) - (Number(b) + Number(c)) / 2) < 0.01);
});

test("edges that can be drawn without crossing do not cross", () => {
  const ids = ["a", "b", "c", "d", "e"].map((id) => ({ id }));
  const edges = [["a", "b"], ["a", "c"], ["b", "e"], ["c", "d"]].map(([from, to]) => ({ from, to }));
  const layout = layOut("a", ids, /** @type {any} */ (edges));
  const x = (/** @type {string} */ id) => layout.nodes.find((each) => each.id === id)?.x ?? 0;
  assert.equal(x("b") < x("c"), x("e") < x("d"));
});

test("places keep their gaps, near to what they want", () => {
  assert.deepEqual(spread([5, 5], [0, 10]), [0, 10]);
  assert.deepEqual(spread([0, 100], [0, 10]), [0, 100]);
  assert.deepEqual(spread([0, 0, 0], [0, 10, 10]), [-10, 0, 10]);
  assert.deepEqual(spread([3, 9, 0], [0, 3, 3]), [1, 4, 7]);
});

test("cycles, loops and islands end", () => {
  const nodes = { a: { next: "b" }, b: { next: "a" }, c: { next: "c" }, d: { node: "d", next: "a" } };
  const graph = graphOf({ start: "b", nodes });
  assertApart(layOutGraph(graph));
});

test("the largest flow is laid out at once", () => {
  const ids = Array.from({ length: 200 }, (_, index) => ({ id: `n${index}` }));
  const edges = ids.flatMap((_, index) =>
    [1, 7, 31].map((step) => ({ from: `n${index}`, to: `n${(index * step + step) % 200}` })),
  );
  const before = process.cpuUsage(); // not the time: other programs run, too
  const layout = layOut("n0", ids, edges);
  assert.ok(process.cpuUsage(before).user < 5_000_000);
  assertApart(layout);
});
