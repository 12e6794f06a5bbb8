/** The research agent of `examples/`, killed with SIGKILL at random moments, and started again with the same folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sqliteJournal } from "@pawl/driver-node";
import { foldLines } from "@pawl/runtime/driver";
import type { State } from "@pawl/sansio-core";
import { isTerminal } from "@pawl/sansio-core/driver";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Library, openLibrary } from "../../examples/library.ts";

const agent = join(import.meta.dirname, "../../examples/research.ts");

/** Numbers that chance has chosen, the same for a seed. */
const dice = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

interface Life {
  readonly lines: readonly string[];
  readonly signal: NodeJS.Signals | null;
}

/** Runs the agent, and kills it so many milliseconds after it has said so many lines. */
const live = async (
  folder: string,
  url: string,
  fate?: { readonly lines: number; readonly ms: number },
): Promise<Life> => {
  const child: ChildProcess = spawn(process.execPath, [agent, folder, url], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = new Promise<NodeJS.Signals | null>((resolve) => child.on("exit", (_, signal) => resolve(signal)));
  const lines: string[] = [];
  const kill = (): void => void setTimeout(() => child.kill("SIGKILL"), fate?.ms);
  if (fate?.lines === 0) kill();
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    lines.push(line);
    if (lines.length === fate?.lines) kill();
  }
  return { lines, signal: await exited };
};

const statesOf = async (folder: string): Promise<readonly State[]> => {
  const journal = sqliteJournal(join(folder, "journal.db"));
  try {
    const entries = await journal.scopes("", "", 100);
    return await Promise.all(entries.map(async ({ scope }) => foldLines(scope, await journal.read(scope, 1))));
  } finally {
    await journal.close();
  }
};

const folders: string[] = [];
let library: Library;
beforeAll(async () => {
  folders.push(mkdtempSync(join(tmpdir(), "pawl-library-")));
  library = await openLibrary(folders[0] ?? "");
});
afterAll(() => {
  library.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Lives until it ends by itself, after so many deaths. */
const lived = async (seed: number, deaths: number): Promise<{ readonly folder: string; readonly life: Life }> => {
  const below = dice(seed);
  const folder = mkdtempSync(join(tmpdir(), "pawl-research-"));
  folders.push(folder);
  for (let death = 0; death < deaths; death++) {
    const fate = { lines: below(12), ms: below(400) };
    const life = await live(folder, library.url, fate);
    if (life.signal === null) return { folder, life };
  }
  return { folder, life: await live(folder, library.url) };
};

describe("the research agent", () => {
  it.each([1, 2])(
    "comes to its end once, however it is killed with SIGKILL (seed %i)",
    async (seed) => {
      const { folder, life } = await lived(seed, 3);
      expect(life.signal).toBeNull();
      expect(life.lines.at(-1)).toBe(
        'done {"read":3,"summary":"8 chapters of 3 pages","Watch":"canceled","Index":"succeeded"}',
      );
      const states = await statesOf(folder);
      const session = states.find(({ scope }) => scope.id === "session:research");
      const tasks = [...(session?.background.tasks.values() ?? [])].map(({ task }) => task);
      expect(tasks.filter(({ state }) => !isTerminal(state))).toEqual([]);
      expect(tasks).toHaveLength(2);
      const runs = states.filter(({ process }) => process !== undefined);
      expect(runs.map(({ process, background }) => [process?.status.state, background.run?.phase])).toEqual([
        ["completed", "ended"],
      ]);
      const heard = readFileSync(join(folder, "heard.jsonl"), "utf8").trim().split("\n");
      expect(heard.filter((key) => key.startsWith("run:"))).toHaveLength(1);
      expect(new Set(heard).size).toBe(heard.length);
      expect(readdirSync(folder).filter((name) => name.startsWith("published-"))).toHaveLength(1);
      const [run = ""] = readdirSync(join(folder, "files/.background"));
      expect(existsSync(join(folder, "files/.background", run, "output.log"))).toBe(true);
      const index = tasks.find(({ kind }) => kind === "background_tool");
      const result = JSON.parse(readFileSync(join(folder, "files", index?.result_path ?? ""), "utf8"));
      expect(result).toEqual({ pages: ["ratchets", "clocks", "winches"], chapters: 8 });
    },
    300_000,
  );
});
