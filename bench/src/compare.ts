/**
 * `pnpm bench:compare REV [NAME…] [--turns N]`: measures figures of another revision and of this tree in turns, and prints both.
 * The other revision is measured by its own bench, in a worktree that is removed afterwards.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Result } from "./figure.ts";

const here = resolve(import.meta.dirname, "../..");
const { positionals, values } = parseArgs({
  options: { turns: { type: "string", default: "3" } },
  allowPositionals: true,
});
const [revision, ...names] = positionals;
const turns = Number(values.turns);
if (revision === undefined || !Number.isSafeInteger(turns) || turns < 1) {
  console.error(
    "pnpm bench:compare: name a revision and figures, as in `pnpm bench:compare main~20 core. node.seq --turns 5`.",
  );
  process.exit(2);
}

const git = (...args: readonly string[]): void => {
  execFileSync("git", ["-C", here, ...args], { stdio: ["ignore", "ignore", "inherit"] });
};

type Results = { readonly [name: string]: Pick<Result, "ratio"> };

const measured = (tree: string): Results => {
  const command = ["bench/src/main.ts", ...names, "--json"];
  const printed = execFileSync(process.execPath, command, { cwd: tree, stdio: ["ignore", "pipe", "inherit"] });
  return JSON.parse(printed.toString()) as Results;
};

/** The ratios of one tree, by figure, turn by turn. */
type Ratios = Map<string, number[]>;

const add = (ratios: Ratios, results: Results): void => {
  for (const [name, { ratio }] of Object.entries(results)) ratios.set(name, [...(ratios.get(name) ?? []), ratio]);
};

const digits = (n: number): string => `${Number(n.toPrecision(3))}`;
const shown = (ratios: readonly number[]): string =>
  ratios.length === 0 ? "none" : `${digits(Math.min(...ratios))} to ${digits(Math.max(...ratios))}`;

const print = (before: Ratios, after: Ratios): void => {
  console.log(
    `${"figure".padEnd(22)} ${revision.padStart(16)} ${"this tree".padStart(16)} ${"best/best".padStart(10)}`,
  );
  for (const [name, ratios] of after) {
    const earlier = before.get(name) ?? [];
    const change = earlier.length === 0 ? "" : digits(Math.min(...ratios) / Math.min(...earlier));
    console.log(
      `${name.padEnd(22)} ${shown(earlier).padStart(16)} ${shown(ratios).padStart(16)} ${change.padStart(10)}`,
    );
  }
};

const tree = join(mkdtempSync(join(tmpdir(), "pawl-compare-")), "tree");
git("worktree", "add", "--detach", tree, revision);
try {
  execFileSync("npx", ["-y", "pnpm@12", "install", "--silent"], { cwd: tree, stdio: ["ignore", "ignore", "inherit"] });
  const [before, after]: [Ratios, Ratios] = [new Map(), new Map()];
  for (let turn = 0; turn < turns; turn++) {
    add(before, measured(tree));
    add(after, measured(here));
  }
  print(before, after);
} finally {
  git("worktree", "remove", "--force", tree);
}
