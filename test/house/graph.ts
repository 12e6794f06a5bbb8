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

/** Lists the edges that lead up a list of rooms, which goes from top to bottom; rooms that it does not name lie below. */
export const upwards = (edges: readonly Edge[], layers: readonly string[]): readonly Edge[] => {
  const levelOf = (room: string): number => (layers.includes(room) ? layers.indexOf(room) : layers.length);
  return edges.filter(({ from, to }) => levelOf(to) < levelOf(from));
};
