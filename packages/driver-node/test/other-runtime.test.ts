/**
 * The driver for Node under Bun and Deno: its journal passes all checks there, and the README's tool survives SIGKILL.
 * PAWL_KILL_ROUNDS asks for more rounds, of three kills each.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { type Program, bun, deno, isThere } from "../../../test/program.ts";

const runtimes = [
  { name: "Bun", program: bun, args: ["run"] },
  { name: "Deno", program: deno, args: ["run", "--quiet", "--allow-all"] },
];

interface Run {
  readonly out: readonly string[];
  readonly said: string;
  readonly code: number | null;
}

/** Runs a program of this folder; kills it after so many lines. */
const run = async (program: Program, args: readonly string[], killAfter = Infinity): Promise<Run> => {
  const child: ChildProcess = spawn(program.path, args, { stdio: ["ignore", "pipe", "pipe"] });
  const out: string[] = [];
  let said = "";
  child.stderr?.on("data", (chunk) => (said += String(chunk)));
  const exited = once(child, "close");
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    out.push(line);
    if (out.length >= killAfter) child.kill("SIGKILL");
  }
  const [code] = (await exited) as [number | null];
  return { out, said, code };
};

const inFolder = async (work: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-other-runtime-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const rounds = Number(process.env["PAWL_KILL_ROUNDS"] ?? 1);

const fileOf = (name: string): string => join(import.meta.dirname, "other-runtime", name);

describe.each(runtimes)("under $name", ({ name, program, args }) => {
  const title = (what: string): string => (isThere(program) ? what : `${what}: left out without ${name}`);

  it.skipIf(!isThere(program))(title("the journal on SQLite passes the checks of journals"), () =>
    inFolder(async (folder) => {
      const { out, said, code } = await run(program, [...args, fileOf("suite.ts"), folder, "inline"]);
      expect([said, code]).toEqual(["", 0]);
      const { passed, failed } = JSON.parse(out.join("")) as { readonly passed: number; readonly failed: object };
      expect(failed).toEqual({});
      expect(passed).toBeGreaterThan(40);
    }),
  );

  const killed = title("a tool that is killed in each of its steps goes on behind its last record");
  it.skipIf(!isThere(program)).each(Array.from({ length: rounds }, (_, i) => i + 1))(`${killed}: round %i`, () =>
    inFolder(async (folder) => {
      const told: string[] = [];
      const trip = [...args, fileOf("trip.ts"), folder];
      const lives = [await run(program, trip, 1), await run(program, trip, 2), await run(program, trip, 2)];
      lives.push(await run(program, trip));
      for (const { out, said } of lives) {
        told.push(...out);
        expect(said).toBe("");
      }
      const steps = told.filter((line) => line.startsWith("booking")).map((line) => line.split(" ").slice(2));
      expect(steps.map(([what]) => what)).toEqual(["train", "train", "hotel", "hotel", "museum", "museum"]);
      expect(new Set(steps.map(String)).size).toBe(3); // Each runs again under the key that it had.
      const payload = ["train in Lviv", "hotel in Lviv", "museum in Lviv"];
      expect(told.at(-1)).toBe(JSON.stringify({ status: "success", payload }));
      expect(lives.map(({ code }) => code)).toEqual([null, null, null, 0]);
    }),
  );
});
