/** Tests what shells complete, asked of real ones. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allCommands } from "../src/run.ts";
import { pawl } from "./pawl.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-completion-"));
writeFileSync(join(folder, "my tools.ts"), "");

/** Returns what bash offers for the last of some words. */
const offered = async (...words: readonly string[]): Promise<readonly string[]> => {
  const { out } = await pawl(["completion", "bash"]);
  const ask = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pawl; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ["--norc", "-c", `${out}\n${ask}`, "bash", "pawl", ...words];
  const said = execFileSync("bash", args, { cwd: folder, encoding: "utf8" });
  return said.split("\n").filter((line) => line !== "");
};

describe("pawl completion", () => {
  it("offers commands, the second words of commands, their options, and files", async () => {
    const commands = await allCommands();
    expect(await offered("")).toEqual([...new Set([...commands.map(({ name }) => name.split(" ")[0]), "help"])]);
    expect(await offered("re")).toEqual(["resolve", "reject"]);
    expect(await offered("log", "re")).toEqual(["replay"]);
    expect(await offered("log", "export", "--j")).toEqual(["--journal", "--json"]);
    expect(await offered("host", "--stu")).toEqual(["--studio"]);
    expect(await offered("host", "my")).toEqual(["my tools.ts"]);
  });

  it("says each command and option to zsh and fish as well", async () => {
    const [zsh, fish] = [await pawl(["completion", "zsh"]), await pawl(["completion", "fish"])];
    for (const { name, summary, options } of await allCommands()) {
      const last = name.split(" ").at(-1) as string;
      expect(zsh.out).toContain(`'${last}:${summary.replaceAll("'", "'\\''")}'`);
      expect(fish.out).toContain(` -a ${last} -d '${summary.replaceAll("'", "'\\''")}'`);
      for (const option of Object.keys(options)) {
        expect(zsh.out).toContain(`'--${option}:`);
        expect(fish.out).toContain(` -l ${option} -d '`);
      }
    }
  });

  it("names the shells it knows when it is asked for another", async () => {
    const { code, err } = await pawl(["completion", "tcsh"]);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining("expected one of bash, zsh, fish, found `tcsh`"),
    });
  });
});
