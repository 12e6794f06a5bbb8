/**
 * The rooms of a package and the imports between them. A room is a folder directly below `src`, with all below it; a file
 * directly in `src` is a room of its own. Two rooms that import each other, also by way of others, form a knot: a strongly
 * connected component of the graph.
 */
import type { Source } from "./source.ts";

export interface Import {
  readonly from: string;
  readonly to: string;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** The imports from file to file behind it. */
  readonly imports: readonly Import[];
}

export const roomOf = (file: string): string => file.split("/")[3] ?? "";

/** Collects the imports that leave a room, by the rooms that they connect. */
export const edgesOf = (sources: readonly Source[]): readonly Edge[] => {
  const edges = new Map<string, { readonly from: string; readonly to: string; readonly imports: Import[] }>();
  for (const { file, imports } of sources)
    for (const target of imports) {
      const [from, to] = [roomOf(file), roomOf(target)];
      if (from === to) continue;
      const edge = edges.get(`${from} ${to}`) ?? { from, to, imports: [] };
      edge.imports.push({ from: file, to: target });
      edges.set(`${from} ${to}`, edge);
    }
  return [...edges.values()];
};

const reachedFrom = (room: string, edges: readonly Edge[]): ReadonlySet<string> => {
  const reached = new Set<string>();
  const visit = (at: string): void => {
    for (const { from, to } of edges)
      if (from === at && !reached.has(to)) {
        reached.add(to);
        visit(to);
      }
  };
  visit(room);
  return reached;
};

/** Finds the knots, each with the edges inside it. */
export const knotsOf = (edges: readonly Edge[]): readonly (readonly Edge[])[] => {
  const rooms = [...new Set(edges.flatMap(({ from, to }) => [from, to]))].toSorted();
  const reached = new Map(rooms.map((room) => [room, reachedFrom(room, edges)]));
  const isTied = (a: string, b: string): boolean => reached.get(a)?.has(b) === true && reached.get(b)?.has(a) === true;
  const firsts = rooms.filter((room) => isTied(room, room) && rooms.find((other) => isTied(room, other)) === room);
  return firsts.map((first) => edges.filter(({ from, to }) => isTied(first, from) && isTied(first, to)));
};

export const roomsIn = (edges: readonly Edge[]): readonly string[] =>
  [...new Set(edges.map(({ from }) => from))].toSorted();

/** Lists the edges that lead up a list of rooms, which is written from top to bottom. */
export const upwards = (edges: readonly Edge[], layers: readonly string[]): readonly Edge[] =>
  edges.filter(({ from, to }) => layers.indexOf(to) < layers.indexOf(from));

/**
 * Orders rooms from top to bottom so that few imports lead up: of what is left, a room that nothing else imports goes to
 * the top, one that imports nothing else to the bottom, otherwise the one with the largest excess of imports over
 * importers to the top (the heuristic of Eades, Lin and Smyth).
 */
export const derivedLayers = (edges: readonly Edge[]): readonly string[] => {
  const left = new Set(edges.flatMap(({ from, to }) => [from, to]).toSorted());
  const top: string[] = [];
  const bottom: string[] = [];
  const weight = (room: string, end: "from" | "to"): number =>
    edges
      .filter((edge) => edge[end] === room && left.has(edge.from) && left.has(edge.to))
      .reduce((sum, { imports }) => sum + imports.length, 0);
  const excess = (room: string): number => weight(room, "from") - weight(room, "to");
  while (left.size > 0) {
    const rooms = [...left];
    const sink = rooms.find((room) => weight(room, "from") === 0);
    const source = rooms.find((room) => weight(room, "to") === 0);
    const next = source ?? rooms.toSorted((a, b) => excess(b) - excess(a))[0];
    if (sink !== undefined) bottom.unshift(sink);
    else if (next !== undefined) top.push(next);
    left.delete(sink ?? next ?? "");
  }
  return [...top, ...bottom];
};
