/** Holds the figures of `pnpm house`: each meets its bound, or is no worse than it was when it was last written down here. */
import { describe, expect, it } from "vitest";
import { figuresOfHouse, layersOfRuntime } from "./house/figure.ts";
import { edgesOf, knotsOf, roomOf, roomsIn, upwards } from "./house/graph.ts";
import { sourceFiles } from "./house/source.ts";

/**
 * Figures that do not meet their bound yet, with the value that they must not get worse than. Lower a value when you have
 * made it better; take its line out when the bound holds.
 */
const today: { readonly [figure: string]: number } = {
  "lines of core and runtime": 52_558,
  "files of core and runtime": 299,
};

describe("the house", () => {
  const figures = figuresOfHouse();

  it.each(figures)("keeps its bound: $name", ({ name, value, found, atMost = Infinity, atLeast = -Infinity }) => {
    const seen = `${name}: ${value}\n${found.slice(0, 20).join("\n")}`;
    expect(value, seen).toBeLessThanOrEqual(Math.max(atMost, today[name] ?? atMost));
    expect(value, seen).toBeGreaterThanOrEqual(Math.min(atLeast, today[name] ?? atLeast));
  });

  it("names every room of the runtime in its layers", () => {
    const rooms = sourceFiles.filter((path) => path.startsWith("packages/runtime/src/")).map(roomOf);
    const folders = [...new Set(rooms)].filter((room) => !room.endsWith(".ts"));
    expect(folders.filter((room) => !layersOfRuntime.includes(room))).toEqual([]);
  });

  it("has written down no figure that there is not", () => {
    const names = figures.map(({ name }) => name);
    expect(Object.keys(today).filter((name) => !names.includes(name))).toEqual([]);
  });
});

const file = (path: string): string => `packages/toy/src/${path}.ts`;
const source = (path: string, ...imports: readonly string[]) => ({
  file: file(path),
  lines: 1,
  imports: imports.map(file),
  comments: [],
});

describe("the graph of rooms", () => {
  const knotted = [
    source("index", "a/one", "d/one"),
    source("a/one", "a/two", "b/one"),
    source("b/one", "c/one", "d/one"),
    source("c/one", "a/two"),
  ];

  it("has an edge for the imports that leave a room, and none for those within", () => {
    expect(edgesOf(knotted).map(({ from, to }) => `${from} ${to}`)).toEqual([
      "index.ts a",
      "index.ts d",
      "a b",
      "b c",
      "b d",
      "c a",
    ]);
  });

  it("finds rooms that import each other by way of others", () => {
    const [knot = [], ...others] = knotsOf(edgesOf(knotted));
    expect(roomsIn(knot)).toEqual(["a", "b", "c"]);
    expect(others).toEqual([]);
    expect(knotsOf(edgesOf(knotted.slice(0, 3)))).toEqual([]);
  });

  it("has layers, which imports lead down; what they do not name lies below", () => {
    const edges = edgesOf(knotted.slice(0, 3));
    expect(upwards(edges, ["index.ts", "a", "b"])).toEqual([]);
    expect(upwards(edges, ["b", "index.ts", "a"]).map(({ from, to }) => `${from} ${to}`)).toEqual(["a b"]);
    expect(upwards(edges, ["d"]).map(({ from, to }) => `${from} ${to}`)).toEqual(["index.ts d", "b d"]);
  });
});
