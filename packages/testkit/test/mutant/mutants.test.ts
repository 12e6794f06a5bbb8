/** Mutation tests: every mutant must be caught, and the unchanged code must pass. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { type Mutant, mutants } from "./mutants.ts";

interface Hunted {
  readonly code: number;
  readonly output: string;
}

const here = import.meta.dirname;

/** Hunts in a process of its own. */
const hunt = ({ what, first }: Partial<Mutant> = {}): Promise<Hunted> =>
  new Promise((done) => {
    const loading = what === undefined ? [] : ["--import", resolve(here, "mutate.ts")];
    const order = first === undefined ? [] : [first];
    const env = { ...process.env, NODE_OPTIONS: "", PAWL_MUTANT: what };
    const options = { env, timeout: 580_000, killSignal: "SIGKILL" } as const;
    execFile(process.execPath, [...loading, resolve(here, "hunt.ts"), ...order], options, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : 1, output: stdout + stderr }),
    );
  });

const sourceOf = (file: string): string => readFileSync(resolve(here, "../../..", file), "utf8");

describe("the explorers", () => {
  it("accept the unchanged code", async () => {
    expect(await hunt()).toEqual({ code: 0, output: "" });
  });

  it("are tested with twenty or more mutants, each a change of one existing place", () => {
    expect(mutants.length).toBeGreaterThanOrEqual(20);
    const misplaced = mutants.filter(({ file, find }) => sourceOf(file).split(find).length !== 2);
    expect(misplaced.map(({ what }) => what)).toEqual([]);
  });

  describe.concurrent("catch", () => {
    it.each(mutants)(
      "$what",
      async (mutant) => {
        const { caught } = mutant;
        const { code, output } = await hunt(mutant);
        expect(code, output).toBe(1);
        expect(output).toMatch(/^\w+, by (?:crashes|chance|orders|proof): /);
        if (caught !== undefined) expect(output).toMatch(new RegExp(`by ${caught.by}: [^]*${caught.saying}`));
      },
      600_000,
    );
  });
});
