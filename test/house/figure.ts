/** The figures of the house: how the code is cut into packages, rooms, files and functions, each with its bound. */
import { basename } from "node:path";
import { type Edge, edgesOf, knotsOf, roomsIn, upwards } from "./graph.ts";
import { type FunctionLength, type Source, exportedFrom, functionsOf, sourceFiles, sourceOf } from "./source.ts";

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly atMost?: number;
  readonly atLeast?: number;
  /** What was counted, the worst first. */
  readonly found: readonly string[];
}

const srcOf = (name: string): string => `packages/${name}/src/`;
const [core, runtime] = [srcOf("sansio-core"), srcOf("runtime")];

const sources: readonly Source[] = sourceFiles.map(sourceOf);
const within = (src: string): readonly Source[] => sources.filter(({ file }) => file.startsWith(src));
const engine: readonly Source[] = [...within(core), ...within(runtime)];

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

const counted = (name: string, found: readonly string[], atMost: number): Figure => ({
  name,
  value: found.length,
  atMost,
  found,
});

const inSrc = (file: string): string => file.split("/").slice(3).join("/");

const oldSplit = new Set(["seldom", "late", "part", "needed", "later"]);
const wordsOf = (file: string): readonly string[] => inSrc(file).split(/[-./]/);

const edgeLine = ({ from, to, imports }: Edge): string =>
  `${from} -> ${to}: ${imports.map((one) => `${inSrc(one.from)} imports ${inSrc(one.to)}`).join(", ")}`;

const knots = (name: string, src: string): Figure => {
  const found = knotsOf(edgesOf(within(src)));
  return { name, value: found.flatMap(roomsIn).length, atMost: 0, found: found.flat().map(edgeLine) };
};

/**
 * The layers of the runtime from top to bottom: each imports by value only what lies below it. A session answers what hosts ask of a
 * scope, a body runs a tool, a process is a scope of its own; these ask hosts and tools. Below are what keeps a scope (and moves it),
 * and the store. Files of `src` that are not named are the floor: all may import them, and they import no room.
 */
export const layersOfRuntime: readonly string[] =
  "index.ts driver.ts runtime.ts fetch session turn body stream process host move scope commit message queue tool journal lifecycle".split(
    " ",
  );

const layers = (): Figure => {
  const found = upwards(edgesOf(within(runtime)), layersOfRuntime);
  return counted("imports up the layers of runtime", found.map(edgeLine), 0);
};

/** Counts comments by the word that they begin with; house.md wants a verb there. */
const beginning = (word: string, atMost: number): Figure => {
  const begins = new RegExp(`^${word}\\b`);
  const found = sources.flatMap(({ file, comments }) =>
    comments.flatMap(({ line, text }) => (begins.test(text) ? [`${file}:${line}: ${text.slice(0, 60)}`] : [])),
  );
  return counted(`comments that begin with ${word}`, found, atMost);
};

const longest = (): Figure => {
  const all: readonly FunctionLength[] = engine.flatMap(({ file }) => functionsOf(file));
  const long = all.filter(({ lines }) => lines > 40).toSorted((a, b) => b.lines - a.lines);
  const found = long.map(({ file, line, lines }) => `${lines} lines: ${file}:${line}`);
  return { name: "functions over 40 lines, in %", value: (100 * long.length) / all.length, atMost: 0.5, found };
};

const filesBySize = (): readonly string[] =>
  engine.toSorted((a, b) => a.lines - b.lines).map(({ file, lines }) => `${lines} lines: ${file}`);

/** Measures the tree as it lies on the disk. */
export const figuresOfHouse = (): readonly Figure[] => [
  counted(
    "files named after the old split",
    sourceFiles.filter((file) => wordsOf(file).some((word) => oldSplit.has(word))),
    0,
  ),
  counted(
    "files at the top of runtime",
    sourceFiles.filter((file) => file === runtime + basename(file)),
    12,
  ),
  knots("rooms of core in cycles", core),
  knots("rooms of runtime in cycles", runtime),
  layers(),
  { name: "files of core and runtime", value: engine.length, atMost: 230, found: [] },
  {
    name: "median lines of their files",
    value: median(engine.map(({ lines }) => lines)),
    atLeast: 110,
    atMost: 220,
    found: filesBySize(),
  },
  {
    name: "lines of core and runtime",
    value: engine.reduce((sum, { lines }) => sum + lines, 0),
    atMost: 33_000,
    found: [],
  },
  counted("names that core exports", [...exportedFrom(`${core}index.ts`)], 60),
  counted("names that runtime exports", [...exportedFrom(`${runtime}index.ts`)], 120),
  beginning("What", 50),
  ...["Whether", "Who", "Of", "It", "That"].map((word) => beginning(word, 0)),
  longest(),
];
