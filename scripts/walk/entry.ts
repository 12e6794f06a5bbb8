/**
 * Finds out which functions of the packages ran, how often, and in which order. V8's precise coverage counts the calls of each
 * function but does not order them. For the order alone, a load hook puts a mark at the start of each function, and a mark that is
 * met is noted. The hook works on modules that are loaded after this one, so packages are imported later, with `import()`.
 */
import { Session } from "node:inspector/promises";
import { registerHooks } from "node:module";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { type ESTree, parseSync } from "rolldown/utils";
import { functionsBelow, sourceFiles } from "../../test/house/source.ts";
import { pathOf } from "../../test/project.ts";

export interface Entered {
  readonly file: string;
  /** The name that V8 gives it; empty for a function without one. */
  readonly name: string;
  readonly count: number;
  /** The stage in which it was entered first. */
  readonly stage: number;
}

interface Mark {
  readonly id: number;
  /** Where the mark is in the text that V8 has loaded. */
  readonly at: number;
}

const fileOf = new Map(sourceFiles.map((file) => [pathToFileURL(pathOf(file)).href, file]));
const marksOf = new Map<string, readonly Mark[]>();
/** The marks that were met, in the order of their first time, with the stage of it. */
const met = new Map<number, number>();
const now = { stage: 0, entries: 0, marks: 0 };

const note = (id: number): void => {
  now.entries += 1;
  if (!met.has(id)) met.set(id, now.stage);
};
Object.assign(globalThis, { walkMark: note });

const bodyOf = (node: ESTree.Node): ESTree.Node | undefined =>
  "body" in node && typeof node.body === "object" && node.body !== null && "type" in node.body ? node.body : undefined;

interface Insertion {
  readonly at: number;
  readonly text: string;
  readonly id?: number;
}

/** Returns what marks a function: a statement at the start of its body, or a comma before the expression that it returns. */
const insertionsFor = (node: ESTree.Node): readonly Insertion[] => {
  const body = bodyOf(node);
  if (body === undefined) return [];
  const id = (now.marks += 1);
  if (body.type === "BlockStatement") return [{ at: body.start + 1, text: ` walkMark(${id});`, id }];
  return [
    { at: body.start, text: `(walkMark(${id}), `, id },
    { at: body.end, text: ")" },
  ];
};

const marked = (url: string, text: string): string => {
  const insertions = [...functionsBelow(parseSync(url, text).program)].flatMap(insertionsFor);
  const marks: Mark[] = [];
  let result = "";
  let from = 0;
  for (const { at, text: code, id } of insertions.toSorted((a, b) => a.at - b.at)) {
    result += text.slice(from, at);
    if (id !== undefined) marks.push({ id, at: result.length });
    result += code;
    from = at;
  }
  marksOf.set(url, marks);
  return result + text.slice(from);
};

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    if (!fileOf.has(url) || loaded.source === undefined) return loaded;
    const text = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
    return { ...loaded, source: marked(url, text) };
  },
});

const inspector = new Session();
inspector.connect();
await inspector.post("Profiler.enable");
await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** Resolves when no function of the packages has been entered for a while. */
export const atRest = async (): Promise<void> => {
  for (let before = -1; before !== now.entries; await turn()) {
    before = now.entries;
    await pause(50);
  }
};

/** Begins a stage: functions that are entered first from now on belong to it. */
export const begin = (stage: number): void => {
  now.stage = stage;
};

interface Ran {
  readonly name: string;
  readonly count: number;
  readonly start: number;
  readonly end: number;
}

/** Finds the function around a mark: of those that V8 reports there, the one that begins last. */
const around = (at: number, functions: readonly Ran[]): Ran | undefined =>
  functions.filter(({ start, end }) => start <= at && at < end).toSorted((a, b) => b.start - a.start)[0];

/** Runs what is to be traced, and returns the functions that it entered, in the order of their first entry. */
export const traced = async (run: () => Promise<void>): Promise<readonly Entered[]> => {
  await atRest();
  await inspector.post("Profiler.takePreciseCoverage"); // Counts begin at zero again.
  met.clear();
  begin(0);
  await run();
  const first = new Map([...met].map(([id, stage], order) => [id, { stage, order }]));
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  const entered = result.flatMap(({ url, functions }) => {
    const ran = functions.flatMap(({ functionName: name, ranges }) =>
      ranges.slice(0, 1).map(({ startOffset: start, endOffset: end, count }): Ran => ({ name, count, start, end })),
    );
    return (marksOf.get(url) ?? []).flatMap(({ id, at }) => {
      const found = first.get(id);
      if (found === undefined) return [];
      const { name, count } = around(at, ran) ?? { name: "", count: 0 };
      if (count === 0) throw new Error(`a function of ${url} was entered, and V8 has not counted it: ${name}`);
      return [{ file: fileOf.get(url) ?? url, name, count, ...found }];
    });
  });
  return entered
    .toSorted((a, b) => a.order - b.order)
    .map(({ file, name, count, stage }) => ({ file, name, count, stage }));
};
