import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import {
  BuiltinRegistry,
  type BuiltinTool,
  MemoryFiles,
  canonicalPath,
  contentHash,
  defaultRegistry,
  definitionOf,
  firesAfter,
  headline,
  narrate,
  nextFire,
  planOf,
  withReporting,
} from "@pawl/tools";
import type { JsonObject } from "@pawl/tool-value";
import { internalError, success, toolError } from "@pawl/runtime";
import { registryReply, successWithRawOutput } from "@pawl/runtime/driver";
import { failing } from "./failing.ts";

const registry = defaultRegistry();
const at = (text: string): number => Date.parse(text);

describe("results", () => {
  it("keep the message of a failing tool, for the model or for the log (behaviours 2, 3)", async () => {
    expect(await failing("no").execute({}, undefined)).toEqual({ type: "tool_error", message: "no" });
    const hidden = await failing("secret", "internal_error").execute({}, undefined);
    expect(hidden).toMatchObject({ type: "internal_error", message: "secret" });
  });

  it("show a model its own message, and nothing of an internal failure (behaviour 4)", () => {
    expect(registryReply("c", success({ a: 1 })).json).toMatchObject({ result: { a: 1 }, error: null });
    expect(registryReply("c", toolError("no")).json).toMatchObject({ result: { error: "no" }, error: "no" });
    const { json } = registryReply("c", internalError(new Error("secret")));
    expect(JSON.stringify(json)).not.toContain("secret");
    const generic = "An internal error occurred while executing the tool";
    expect(json).toMatchObject({ result: { error: generic }, error: generic });
  });

  it("of an internal failure carry the details for the log beside the reply", () => {
    const failure = new Error("no answer", { cause: new Error("no answer", { cause: new Error("socket closed") }) });
    expect(registryReply("c", internalError(failure)).detail).toBe("no answer: socket closed");
    expect(registryReply("c", internalError("as a text")).detail).toBe("as a text");
    expect(registryReply("c", toolError("no"))).not.toHaveProperty("detail");
  });

  it("carry the raw output beside the value, which keeps its keys (behaviour 5)", () => {
    const { json, rawOutput } = registryReply("c", successWithRawOutput({ a: 1 }, "all of it"));
    expect([json["result"], rawOutput]).toEqual([{ a: 1 }, "all of it"]);
    expect(JSON.stringify(json)).not.toContain("_raw_output");
  });

  it("carry the raw output beside a text, which stays plain (behaviour 6)", () => {
    const { json, rawOutput } = registryReply("c", successWithRawOutput("short", "all of it"));
    expect([json["result"], rawOutput]).toEqual(["short", "all of it"]);
  });

  it("that only look like carriers stay unchanged (behaviours 7, 8)", () => {
    for (const value of [{ _raw_output_scalar: "v", kept: 1 }, { _raw_output_scalar: "v" }]) {
      expect(registryReply("c", success(value))).toEqual({ json: { tool_call_id: "c", result: value, error: null } });
    }
  });
});

describe("the registry", () => {
  it("finds tools that were registered one by one or at construction (behaviours 9, 10)", () => {
    const [echo, add] = [registry.get("echo"), registry.get("add")] as [BuiltinTool, BuiltinTool];
    const one = new BuiltinRegistry();
    one.register(echo);
    one.register(add);
    for (const own of [one, new BuiltinRegistry().register(echo).register(add), new BuiltinRegistry([echo, add])]) {
      expect([own.size, own.get("echo"), own.get("add"), own.has("other")]).toEqual([2, echo, add, false]);
      expect(own.definitions()).toHaveLength(2);
    }
  });

  it("has one tool for each name, and can be copied", () => {
    const own = new BuiltinRegistry([failing("a"), failing("b")]);
    expect([own.size, own.has("failing_tool"), own.has("other")]).toEqual([1, true, false]);
    const copy = own.copy();
    expect(copy.unregister("failing_tool")?.name).toBe("failing_tool");
    expect([copy.size, own.size]).toEqual([0, 1]);
  });

  it("has eighteen tools by default, each with a display name (behaviours 11, 12, 13, 15, 16, 19)", () => {
    expect([...registry.names].toSorted().join(" ")).toBe(
      "add delete_file divide echo edit_file get_current_time get_forecast get_weather grep_files list_directory " +
        "multiply read_file report_progress stat_file subtract web_fetch write_file write_todos",
    );
    expect(registry.definitions().map((one) => typeof one["display_name"])).toEqual(Array(18).fill("string"));
    for (const name of ["bash", "kv_store", "secret_store", "spawn_background"]) expect(registry.has(name)).toBe(false);
    for (const [name, shown] of [
      ["echo", "Echo"],
      ["get_current_time", "Get Current Time"],
    ] as const) {
      const tool = registry.get(name) as BuiltinTool;
      expect(tool.displayName).toBe(shown);
      expect(definitionOf(tool)).toMatchObject({ type: "builtin", name, display_name: shown, policy: "auto" });
    }
  });

  it("runs any of its tools (behaviours 1, 14, 17, 18)", async () => {
    const told = await registry.execute({ id: "c", name: "echo", arguments: { message: "Hello, world!" } });
    expect(told).toEqual(
      E.right({ json: { tool_call_id: "c", result: { echoed: "Hello, world!", length: 13 }, error: null } }),
    );
    const sum = await registry.execute({ id: "c", name: "add", arguments: { a: 5, b: 3 } });
    expect(E.isRight(sum) ? sum.right.json["result"] : undefined).toMatchObject({ result: 8 });
    expect(await registry.execute({ id: "c", name: "Echo", arguments: {} })).toEqual(
      E.left("Tool execution error: Tool not found: Echo"),
    );
  });
});

const next = (cron: string, zone: string, after: string): string | undefined => {
  const found = nextFire(cron, zone, at(after));
  return E.isRight(found) ? new Date(found.right).toISOString() : found.left;
};

describe("cron", () => {
  it("has the standard meaning: 0 and 7 are Sunday, and either kind of day matches", () => {
    for (const sunday of ["0", "7"]) {
      expect(next(`0 9 * * ${sunday}`, "UTC", "2026-04-16T00:00:00Z")).toBe("2026-04-19T09:00:00.000Z");
    }
    const fires = firesAfter({ expression: "0 0 20 * 1", timezone: "UTC" }, at("2026-04-17T00:00:00Z"), 2);
    expect(E.isRight(fires) ? fires.right.map((one) => new Date(one).toISOString().slice(0, 10)) : []).toEqual([
      "2026-04-20",
      "2026-04-27",
    ]);
  });
  it("follows the zone's clock, also over its changes", () => {
    expect(next("0 9 * * *", "America/New_York", "2026-03-07T15:00:00Z")).toBe("2026-03-08T13:00:00.000Z");
    expect(next("0 9 * * *", "Europe/Kyiv", "2026-01-01T08:00:00Z")).toBe("2026-01-02T07:00:00.000Z");
  });
  it("fires in both repeated hours, once at a repeated time of day, and after a gap", () => {
    const zone = "America/New_York";
    expect(next("*/30 * * * *", zone, "2026-11-01T05:30:00Z")).toBe("2026-11-01T06:00:00.000Z");
    expect(next("*/10 * * * *", zone, "2026-11-01T06:10:00Z")).toBe("2026-11-01T06:20:00.000Z");
    expect(next("30 1 * * *", zone, "2026-11-01T05:30:00Z")).toBe("2026-11-02T06:30:00.000Z");
    expect(next("30 2 * * *", zone, "2026-03-08T06:00:00Z")).toBe("2026-03-08T07:00:00.000Z");
  });
  it("reports what is wrong", () => {
    expect(next("nonsense", "UTC", "2026-01-01T00:00:00Z")).toBe("invalid cron expression 'nonsense'");
    expect(next("61 * * * *", "UTC", "2026-01-01T00:00:00Z")).toBe("invalid cron expression '61 * * * *'");
    expect(next("0 9 * * *", "Mars/Base", "2026-01-01T00:00:00Z")).toContain("invalid IANA timezone 'Mars/Base'");
    expect(next("0 9 * * *", "+02:00", "2026-01-01T00:00:00Z")).toContain("invalid IANA timezone '+02:00'");
    expect(next("0 9 * * *", "Etc/GMT-2", "2026-01-01T00:00:00Z")).toBe("2026-01-01T07:00:00.000Z");
    expect(next("0 0 30 2 *", "UTC", "2026-01-01T00:00:00Z")).toBe("cron expression has no future occurrence");
    expect(planOf("*/30 * * * * *", "UTC", 0)).toMatchObject({ status: "next", at: 30_000, interval_s: 30 });
  });
});

describe("reports to the outside", () => {
  it("are requested once in the prompt of a session with such a tag", () => {
    const tags = ["other", "channel:reply_mode:report_progress_only"];
    const prompt = withReporting(tags, "You help.");
    expect(prompt).toMatch(/^# External Progress Reporting\n[^]*\nYou help\.$/);
    expect(withReporting(["slack:reply_mode:report_progress_only"], prompt)).toBe(prompt);
    expect(withReporting(["other"], "You help.")).toBe("You help.");
  });
});

const ofAgents = (args: JsonObject): string =>
  narrate({ tool: "manage_agents", args, hints: { narration_noun: "agent" } }, "started");

describe("narration", () => {
  const read = { tool: "read_file", args: { path: "/workspace/a/AGENTS.md" } };
  it("works in Ukrainian", () => {
    expect(narrate(read, "completed", "uk-UA")).toBe("Прочитано AGENTS.md");
    expect(narrate({ tool: "list_directory", args: {} }, "waiting", "uk")).toBe(
      "Переглядаю файли в поточному каталозі",
    );
    expect(narrate({ tool: "spawn_background", args: {} }, "failed", "uk")).toBe(
      "Не вдалося виконати Spawn Background",
    );
    expect(headline(["A", "B"], "uk")).toBe("A і B");
    expect(headline(["A", "B", "C"], "uk")).toBe("A, B і ще 1 дія");
    expect(headline(["A", "B", "C", "D", "E", "F", "G"], "uk")).toBe("A, B і ще 5 дій");
  });
  it("prefers the model's stated intent, and shows no secret", () => {
    expect(narrate({ ...read, args: { human_intent: " Look at the notes " } }, "started")).toBe("Look at the notes");
    const url = "https://user:pw@example.com/page?token=abc#f";
    expect(narrate({ tool: "web_fetch", args: { url } }, "failed")).toBe("Could not fetch URL: example.com/page");
    expect(narrate({ tool: "read_file", args: { path: "/" } }, "completed")).toBe("Read /");
    expect(headline([])).toBeUndefined();
    expect(headline(["A", "B"])).toBe("A and B");
  });
  it("takes the first given argument, blank or not, and no inherited property for a verb", () => {
    expect(ofAgents({ action: "create", name: "N" })).toBe("Creating agent: N");
    expect(ofAgents({ operation: " ", action: "create" })).toBe("Running Manage Agents");
    expect(ofAgents({ operation: "copy", display_name: " ", name: "N" })).toBe("Copying agent");
    expect(ofAgents({ operation: "constructor" })).toBe("Running agent");
  });
});

const readOf = async (content: string, args: JsonObject): Promise<unknown> => {
  const files = new MemoryFiles();
  await files.write(String(args["path"]), new TextEncoder().encode(content), { encoding: "text" });
  const told = await registry.execute({ id: "c", name: "read_file", arguments: args }, { session_id: "s", files });
  return E.isRight(told) ? told.right.json["result"] : told.left;
};

describe("reading files", () => {
  it("from any line to the end leaves nothing out, and reports the size", async () => {
    expect(await readOf("a\nb\n", { path: "a.txt", offset: 1 })).toMatchObject({
      content: "2|b",
      truncated: false,
      truncation: { truncated: false, bytes_returned: 3, bytes_total: 3, reason: "size_cap" },
    });
    expect(await readOf("a\n\r", { path: "a.txt" })).toMatchObject({ content: "1|a\n2|", total_lines: 2 });
    expect(await readOf("", { path: "a.txt" })).toMatchObject({ content: "", lines_shown: { start: 0, end: 0 } });
  });
  it("up to a line or byte limit reports the file's size, and the line to continue from", async () => {
    expect(await readOf("a\nb\n", { path: "a.txt", limit: 1 })).toMatchObject({
      truncated: true,
      truncation: { truncated: true, bytes_returned: 3, bytes_total: 4, next_offset: 1, reason: "line_cap" },
    });
    const long = await readOf("x".repeat(51_199), { path: "a.txt" });
    expect(long).toMatchObject({ truncated: true, truncation: { bytes_returned: 51_200, bytes_total: 51_199 } });
    expect(long).not.toHaveProperty("truncation.next_offset");
  });
  it("that are binary but stored as text shows a note, unless lines are requested", async () => {
    for (const path of ["a.png", "a.JPEG", "a.zip"]) {
      expect(await readOf("x", { path })).toMatchObject({ content_type: "binary", encoding: "binary", size_bytes: 1 });
      expect(await readOf("x", { path, offset: 0, limit: 1 })).toMatchObject({ content: "1|x" });
    }
  });
  it("needs a context before anything else", async () => {
    const told = await registry.execute({ id: "c", name: "read_file", arguments: {} });
    expect(E.isRight(told) ? told.right.json["error"] : told.left).toContain("read_file requires context.");
  });
});

const editOf = async (content: string, old_text: string, new_text: string): Promise<unknown> => {
  const files = new MemoryFiles();
  const bytes = new TextEncoder().encode(content);
  await files.write("a.txt", bytes, { encoding: "text" });
  const args = { path: "a.txt", expected_hash: contentHash(bytes), edits: [{ old_text, new_text }] };
  const told = await registry.execute({ id: "c", name: "edit_file", arguments: args }, { session_id: "s", files });
  return E.isRight(told) ? told.right.json["result"] : told.left;
};

describe("editing files", () => {
  it("ignores a byte order mark in the arguments, and keeps the file's own", async () => {
    const edited = contentHash(new TextEncoder().encode("\uFEFFcb"));
    expect(await editOf("\uFEFFab", "\uFEFFa", "\uFEFFc")).toMatchObject({ content_hash: edited });
  });
  it("shows no diff if nothing has changed", async () => {
    expect(await editOf("a\n", "a", "a")).toMatchObject({ first_changed_line: null, diff: "", diff_truncated: false });
  });
});

describe("paths", () => {
  it("have three spellings for one file", () => {
    expect(["/workspace/a/b", "/a/b", "a/b", "./a//b/"].map(canonicalPath)).toEqual(Array(4).fill("/a/b"));
  });
  it("that lead out, or are ambiguous on some disk, are refused", () => {
    const escapes = ["..", "a/../../b", "/workspace/../etc", "..\\b", "C:/x", "a\0b", "cafe\u0301", "a\nb", "\ud800"];
    for (const path of escapes) expect(() => canonicalPath(path)).toThrow("Invalid path");
  });
  it("are case-sensitive", async () => {
    const files = new MemoryFiles();
    await files.write("A.txt", new Uint8Array([1]), { encoding: "text" });
    expect(await files.read("a.txt")).toBeUndefined();
  });
  it("below a folder named `workspace` are displayed as requested", async () => {
    const files = new MemoryFiles();
    const context = { session_id: "s", files };
    const path = "/workspace/workspace/a.txt";
    await registry.execute({ id: "c", name: "write_file", arguments: { path, content: "x" } }, context);
    const read = await registry.execute({ id: "c", name: "read_file", arguments: { path } }, context);
    expect(E.isRight(read) ? read.right.json["result"] : read.left).toMatchObject({ path, total_lines: 1 });
    expect(await files.read("/a.txt")).toBeUndefined();
  });
  it("are searched in linear time, also by an expression that would backtrack", async () => {
    const files = new MemoryFiles();
    await files.write("a", new TextEncoder().encode(`${"a".repeat(50_000)}!\nabc`), { encoding: "text" });
    expect(await files.grep("^(a+)+$")).toEqual([]);
    expect(await files.grep("^a.c$")).toMatchObject([{ line_number: 2, line: "abc" }]);
    await expect(files.grep("(a)\\1")).rejects.toMatchObject({ kind: "pattern" });
  });
  it("that are protected can be read, but not written, edited or deleted", async () => {
    const files = new MemoryFiles();
    await files.write("a.txt", new TextEncoder().encode("old"), { encoding: "text" });
    expect([files.protect("/workspace/a.txt"), files.protect("b.txt")]).toEqual([true, false]);
    const context = { session_id: "s", files };
    const said = async (name: string, args: JsonObject): Promise<unknown> => {
      const told = await registry.execute({ id: "c", name, arguments: { path: "a.txt", ...args } }, context);
      return E.isRight(told) ? (told.right.json["error"] ?? told.right.json["result"]) : told.left;
    };
    const expected_hash = contentHash(new TextEncoder().encode("old"));
    const refused = "Cannot modify readonly file: /workspace/a.txt";
    expect(await said("write_file", { content: "new" })).toBe(refused);
    expect(await said("edit_file", { expected_hash, edits: [{ old_text: "old", new_text: "new" }] })).toBe(refused);
    expect(await said("delete_file", {})).toBe(refused);
    expect(await said("read_file", {})).toMatchObject({ content: "1|old" });
    expect(await said("stat_file", {})).toMatchObject({ is_readonly: true });
  });
  it("refuse a write that expects other content", async () => {
    const files = new MemoryFiles();
    const one = new Uint8Array([1]);
    await files.write("a", one, { encoding: "text" });
    expect(await files.write("a", new Uint8Array([3]), { encoding: "text", expected: new Uint8Array([2]) })).toBe(
      false,
    );
    expect(await files.write("a", new Uint8Array([3]), { encoding: "text", expected: one })).toBe(true);
  });
});
