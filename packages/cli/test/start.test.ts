/** Tests what the command line loads: nothing for its version, and for a command no more than that command needs. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loaded } from "../src/optional.ts";
import { newFolder } from "./fixture.ts";

const main = join(import.meta.dirname, "../src/main.ts");

/** Lists the modules that a command loads. */
const modulesOf = (...args: readonly string[]): readonly string[] => {
  const folder = newFolder();
  const list = join(folder, "loaded.txt");
  const hooks = join(folder, "hooks.mjs");
  writeFileSync(
    hooks,
    `import { appendFileSync } from "node:fs";
    import { registerHooks } from "node:module";
    registerHooks({ load: (url, context, next) => (appendFileSync(${JSON.stringify(list)}, url + "\\n"), next(url, context)) });`,
  );
  execFileSync(process.execPath, ["--import", hooks, main, ...args], { encoding: "utf8" });
  return readFileSync(list, "utf8").split("\n");
};
const countOf = (modules: readonly string[], part: string): number =>
  modules.filter((url) => url.includes(part)).length;

describe("the start of the command line", () => {
  it("loads two files for its version, and prints it", () => {
    expect(modulesOf("--version").filter((url) => url.startsWith("file:"))).toHaveLength(2);
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")) as {
      readonly version: string;
    };
    expect(execFileSync(process.execPath, [main, "--version"], { encoding: "utf8" })).toBe(`${version}\n`);
  });

  it("loads no explorer, no flow, no host and no MCP for another command or for help", () => {
    for (const args of [["help", "ls"], ["help"], ["ls", "--help"]]) {
      const modules = modulesOf(...args);
      for (const part of ["/testkit/", "/flow/src/", "modelcontextprotocol"])
        expect([args.join(" "), part, countOf(modules, part)]).toEqual([args.join(" "), part, 0]);
    }
    const ls = modulesOf("ls", "--help");
    for (const part of [
      "/cli/src/host/",
      "/cli/src/check/",
      "/node_modules/ws/",
      "/opentelemetry/",
      "journal-postgres",
      "/node_modules/pg/",
    ])
      expect([part, countOf(ls, part)]).toEqual([part, 0]);
  });

  it("says which package a command needs, if it is not installed", async () => {
    const missing = Object.assign(new Error("Cannot find package '@pawl/flow' imported from file.ts"), {
      code: "ERR_MODULE_NOT_FOUND",
    });
    const load = (): Promise<never> => Promise.reject(missing);
    await expect(loaded("@pawl/flow", "a flow", load)).rejects.toMatchObject({
      code: "package_missing",
      message: "a flow needs the package @pawl/flow, which is not installed",
      hint: "npm install @pawl/flow",
    });
    await expect(loaded("@pawl/testkit", "it", load)).rejects.toBe(missing);
  });
});
