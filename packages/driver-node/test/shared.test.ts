import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineTool, Runtime } from "@pawl/runtime";
import { afterEach, describe, expect, it } from "vitest";
import { type OpenRuntime, openRuntime } from "../src/index.ts";

const opened: OpenRuntime[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const { close } of opened.splice(0)) await close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-shared-"));
  folders.push(folder);
  return folder;
};

const says = (word: string, name = "says") => defineTool({ name, execute: () => word });

/** A module of a program, as a development server loads it: again after each edit. */
const load = (file: string, ...tools: readonly ReturnType<typeof says>[]): OpenRuntime => {
  const module = openRuntime({ file, tools, shared: true });
  opened.push(module);
  return module;
};

describe("a runtime that is shared", () => {
  it("answers after an edit, with the tools of the module that was loaded last", async () => {
    const file = join(makeFolder(), "journal.db");
    const { runtime } = load(file, says("first"), says("old", "gone"));
    expect(await (await runtime.session("s")).call("says", {}, { id: "r1" })).toBe("first");
    const edited = load(file, says("second"), says("new", "added")).runtime;
    const session = await edited.session("s");
    expect(await session.call("says", {}, { id: "r2" })).toBe("second");
    expect(await session.call("added", {}, { id: "r3" })).toBe("new");
    await expect(session.call("gone", {}, { id: "r4" })).rejects.toMatchObject({ code: "tool_unavailable" });
    expect(await (await runtime.session("s")).call("says", {}, { id: "r5" })).toBe("second");
    expect(runtime).toBeInstanceOf(Runtime);
  });

  it("opens nothing before it is used", async () => {
    const file = join(makeFolder(), "journal.db");
    const { runtime, close } = load(file, says("hello"));
    expect(existsSync(file)).toBe(false);
    await close();
    expect(existsSync(file)).toBe(false);
    await runtime.session("s");
    expect(existsSync(file)).toBe(true);
  });

  it("keeps its tools where a module is loaded whose list does not fit", async () => {
    const file = join(makeFolder(), "journal.db");
    const { runtime } = load(file, says("first"));
    expect(() => openRuntime({ file, tools: [says("a"), says("b")], shared: true })).toThrow("two tools");
    expect(await (await runtime.session("s")).call("says", {}, { id: "r" })).toBe("first");
  });

  it("is another one for another file, and a new one after it was closed", async () => {
    const folder = makeFolder();
    const one = load(join(folder, "a.db"), says("a"));
    const other = load(join(folder, "b.db"), says("b"));
    expect(await (await one.runtime.session("s")).call("says", {}, { id: "r" })).toBe("a");
    expect(await (await other.runtime.session("s")).call("says", {}, { id: "r" })).toBe("b");
    await one.close();
    const again = load(join(folder, "a.db"), says("c"));
    expect(await (await again.runtime.session("s")).call("says", {}, { id: "r2" })).toBe("c");
  });

  it("is what a second runtime on the file is not: that is told who owns the session", async () => {
    const file = join(makeFolder(), "journal.db");
    const first = openRuntime({ file, tools: [says("first")] });
    opened.push(first);
    await first.runtime.session("s");
    const second = openRuntime({ file, tools: [says("second")] });
    opened.push(second);
    await expect(second.runtime.session("s")).rejects.toMatchObject({ code: "owned_by" });
  });
});
