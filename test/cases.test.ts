/**
 * The cases that the project was given, and more of the same ops, through the runner that `pnpm cases` uses; and that
 * every adapter refuses what it does not know.
 */
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Case, judge, openCasesUnder, readCases, runCase } from "@pawl/testkit";
import type { Json, JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collectAdapters } from "../scripts/adapters.ts";

const root = resolve(import.meta.dirname, "..");
const adapters = await collectAdapters();

const files = globSync(["cases/*.json", "test/own-cases/*.json"], { cwd: root }).toSorted();
const casesOf = new Map(files.map((file) => [file, readCases(readFileSync(resolve(root, file), "utf8"))]));

/** Cases of a protocol only: what a rule of a later one has made otherwise. */
const onlyUnder1: ReadonlySet<string> = new Set([
  "emit-undeclared", // Under 2 the message names the plugin session, as the specification has it.
  "emit-misfit",
]);

describe.each([1, 2])("under protocol %i", (protocol) => {
  beforeAll(() => openCasesUnder(protocol));
  afterAll(() => openCasesUnder(1));
  for (const [file, cases] of casesOf) {
    describe(file, () => {
      for (const test of cases.filter(({ id }) => protocol === 1 || !onlyUnder1.has(id))) {
        it(`${test.id}: ${test.op}`, async () => {
          expect(judge(test, await runCase(test, adapters))).toBeUndefined();
        });
      }
    });
  }
});

/** Returns what an op answers to this input: the code of its error, or nothing where it is carried out. */
const refusalOf = async (op: string, input: Json): Promise<Json | undefined> => {
  const answer = await runCase({ id: "refused", op, input }, adapters);
  return E.isLeft(answer) ? answer.left["code"] : undefined;
};

describe("an adapter", () => {
  /** A case of every op, to which is added what nobody knows. */
  const cases = new Map<string, Case>([...casesOf.values()].flat().map((test) => [test.op, test]));
  /** The input of these is the arguments of a tool, which says itself what it does not know. */
  const toolArguments = ["tools.echo", "tools.files", "tools.report_progress", "tools.web_fetch", "tools.write_todos"];

  it("is used by a case", () => {
    expect([...cases.keys()].toSorted()).toEqual(Object.keys(adapters).toSorted());
  });

  for (const [op, { input }] of cases) {
    if (toolArguments.includes(op)) continue;
    it(`of ${op} refuses a field that it does not know`, async () => {
      expect(await refusalOf(op, { ...(input as JsonObject), unheard_of: 1 })).toBe("unknown_field");
    });
  }

  it.each<[op: string, input: Json]>([
    ["tools.files", { call: ["echo", {}], unheard_of: 1 }],
    ["tools.files", { files: { "/a": { content: "", unheard_of: 1 } }, call: ["read_file", { path: "/a" }] }],
    ["tools.report_progress", { format: {}, unheard_of: 1 }],
    ["tools.monitor", { fire: { tool: "p", result: {}, unheard_of: 1 }, at: "T0" }],
    ["tools.monitor", { fire: { tool: "p", result: { unheard_of: 1 } }, at: "T0" }],
    ["tools.reaper", { task: { state: "running", heartbeat_at: null }, can_reattach: true, start: { unheard_of: 1 } }],
    ["tools.spawn_validation", { args: {}, context: { unheard_of: 1 } }],
    ["tools.task_registry", { messages: [], wake_policy: "silent" }],
    ["schedule_tool_batch", { items: [{ i: 0, unheard_of: 1 }] }],
    ["process.append_sequence", { appends: [{ t: "e", unheard_of: 1 }] }],
    ["retry.run", { policy: { type: "never" }, results: [{ unheard_of: 1 }] }],
  ])("of %s refuses such a field inside its input: %j", async (op, input) => {
    expect(await refusalOf(op, input)).toBe("unknown_field");
  });

  const step = { node_type: "use_tool", tool_name: "S", argument: "y", named_args: [] };
  const custom = { type: "custom", key: "k" };
  it.each<[op: string, input: Json]>([
    ["await.sequence", { wait: custom, steps: [["unheard_of"]] }],
    ["await.sequence", { wait: custom, steps: [["revoke_sessions"]] }],
    ["process.append_sequence", { appends: [{ unheard_of: 1 }] }],
    ["process.append_sequence", { appends: [{ t: "e", cancel: "x" }] }],
  ])("of %s refuses a step that it does not know: %j", async (op, input) => {
    expect(await refusalOf(op, input)).toBe("unknown_step");
  });

  it.each<[op: string, input: Json]>([
    ["tools.registry", { ops: [["unheard_of"]] }],
    ["tools.registry", { registered: ["echo"] }],
    ["tools.task_registry", { unheard_of: 1 }],
    ["tools.finalize", { outcome: { unheard_of: 1 } }],
    ["tools.finalize", { outcome: {} }],
  ])("of %s refuses an op that it does not know: %j", async (op, input) => {
    expect(await refusalOf(op, input)).toBe("unknown_op");
  });

  it.each<[op: string, input: Json]>([
    ["await.sequence", { wait: { type: "unheard_of" }, steps: [] }],
    ["completion_key", { controller: "unheard_of" }],
    ["flow.binding_key", { node: "unheard_of" }],
    ["flow.cancel", { node: step, cancelled: "unheard_of" }],
    ["flow.http_result", { tool: "T", runtime: "http://h", failure: "unheard_of" }],
    ["flow.placeholder", { kind: "unheard_of" }],
    ["flow.step", { nodes: [], unresolved: "unheard_of" }],
    ["process.append_sequence", { appends: [{ complete: "unheard_of" }] }],
    ["retry.run", { policy: { type: "never" }, results: ["unheard_of"] }],
    ["schedule_tool_batch", { items: [{ i: 0, mode: "unheard_of" }] }],
    ["tools.failing_tool", { kind: "unheard_of" }],
    ["tools.files", { files: { "/a": { content: "", encoding: "unheard_of" } }, call: ["read_file", { path: "/a" }] }],
    ["tools.math", { tool: "unheard_of", args: {} }],
    ["tools.monitor", { monitor_task_create: "unheard_of" }],
    ["tools.narration", { tool: "echo", args: {}, phase: "unheard_of" }],
    ["tools.output_log", { writes: [], finish: "unheard_of" }],
    ["tools.raw_output_sidecar", { producer: "unheard_of" }],
    ["tools.schedule", { mark_triggered: "unheard_of" }],
    ["tools.session_signal", { status: "unheard_of" }],
    ["tools.task_registry", { wake_policy: "unheard_of" }],
    ["tools.task_registry", { wake_policy: "silent", into: "unheard_of" }],
    ["tools.tool_result_mapping", { variant: "unheard_of" }],
  ])("of %s refuses a word that it does not know: %j", async (op, input) => {
    expect(await refusalOf(op, input)).toBe("unknown_word");
  });
});
