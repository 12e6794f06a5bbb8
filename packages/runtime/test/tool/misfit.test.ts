/** Tests that what a program says wrongly of its tools and scopes is refused where it says it. */
import { isLeft } from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { type JsonSchema, Registry, type ToolManifest, type ToolProvider, defineTool } from "../../src/index.ts";
import { type ToolContract, WireToolDefinition, checkArgs } from "../../src/driver.ts";
import { World } from "../world.ts";

const execute = () => null;
const refused = (code: string, message: string | RegExp): object =>
  expect.objectContaining({ name: "Refused", code, message: expect.stringMatching(message) });

const wire = (said: object): ToolManifest & ToolContract => {
  const decoded = WireToolDefinition.decode({ output_schema: null, ...said });
  if (isLeft(decoded)) throw new Error("no definition");
  return decoded.right;
};

const provider = (...listed: readonly (ToolManifest & ToolContract)[]): ToolProvider => ({
  manifests: () => listed,
  resolveContract: (name) => listed.find((one) => one.name === name),
  execute,
});

describe("a tool's name", () => {
  it.each(["", "  ", "\n"])("is refused where it is defined, being %j", (name) => {
    expect(() => defineTool({ name, execute })).toThrow(refused("invalid_tool", /name.*not blank.*found "/));
  });

  it("is refused of a provider as well", () => {
    const registry = new Registry();
    expect(() => registry.provide(provider(wire({ id: "tool:x", name: " " })))).toThrow(
      refused("invalid_tool", /manifest 0 of a provider.*name/),
    );
    expect(registry.catalog()).toEqual([]);
  });

  it("stands once in a list; what is registered later takes its place", () => {
    const [first, second] = [defineTool({ name: "t", execute }), defineTool({ name: "t", execute })];
    expect(() => new Registry([first, second])).toThrow(refused("tool_conflict", /two tools `t`.*`register`/));
    expect(() => new World().start([first, second])).toThrow(refused("tool_conflict", "two tools `t`"));
    expect(new Registry([first]).register(second).get("t")).toBe(second);
  });

  it("stands once in a provider's list, and so does an id", () => {
    const t = wire({ id: "tool:t", name: "t" });
    expect(() => new Registry().provide(provider(t, { ...t, id: "tool:u" }))).toThrow(
      refused("tool_conflict", /manifests 0 and 1 of a provider.*name `t`/),
    );
    expect(() => new Registry().provide(provider(t, { ...t, name: "u" }))).toThrow(
      refused("tool_conflict", /manifests 0 and 1 of a provider.*id `tool:t`/),
    );
  });

  it("is not lost to a tool of another name with its id, wherever that one comes from", () => {
    const registry = new Registry([defineTool({ name: "t", execute })]);
    expect(() => registry.provide(provider(wire({ id: "tool:t", name: "u" })))).toThrow(
      refused("tool_conflict", /`t` and `u` have the id `tool:t`/),
    );
    const provided = new Registry();
    provided.provide(provider(wire({ id: "tool:t", name: "u" })));
    expect(() => provided.register(defineTool({ name: "t", execute }))).toThrow(
      refused("tool_conflict", /`u` and `t` have the id `tool:t`/),
    );
  });
});

describe("a tool without a body", () => {
  it("is refused where it is defined", () => {
    expect(() => defineTool({ name: "t" } as never)).toThrow(refused("invalid_tool", /`execute`.*function.*undefined/));
    expect(() => defineTool({ name: "t", execute, prepare: 7 } as never)).toThrow(
      refused("invalid_tool", /`prepare`.*function.*7/),
    );
  });
});

const saying = (said: object) => () => defineTool({ name: "t", execute, ...said });

describe("a field that no tool has", () => {
  it("is refused where a tool is defined, with those that there are", () => {
    expect(saying({ durabel: true })).toThrow(
      refused("invalid_tool", /^tool `t`: `durabel` is no option: expected some of .*durable/),
    );
    expect(saying({ retry: { attempts: 3, delayMs: 1 } })).toThrow(
      refused("invalid_tool", /^tool `t`: `retry.delayMs` is no option: expected some of attempts, firstDelayMs, /),
    );
    expect(saying({ needsApproval: { until: 1 } })).toThrow(
      refused("invalid_tool", /`needsApproval.until` is no option/),
    );
    expect(saying({ readOnly: true, durable: true, manifest: { examples: [] } })).not.toThrow();
  });

  it("of an older release is refused with the field of today, also in a definition that a program has made its own", () => {
    expect(saying({ policy: "requires_approval" })).toThrow(
      refused("invalid_tool", /^tool `t`: `policy` is no field of a tool: write `needsApproval`/),
    );
    expect(saying({ bindings: {} })).toThrow(refused("invalid_tool", /write `manifest: \{ bindings \}`/));
    const own = { ...defineTool({ name: "t", execute }), display_name: "T" };
    expect(() => new Registry([own])).toThrow(refused("invalid_tool", /`display_name` .* write `title`/));
  });

  it("has a value that fits, in the words of its author", () => {
    for (const [said, wanted] of [
      [{ title: 7 }, /the manifest of tool `t` does not fit: invalid type: integer `7`, expected a string at title/],
      [{ concurrency: "one" }, /unknown variant `one`, .* at concurrency/],
      [{ retry: { attempts: 0 } }, /`retry.attempts` of tool `t`: expected 1 or more, found 0/],
      [{ retry: { attempts: 2, maxDelayMs: 0.5 } }, /`retry.maxDelayMs` of tool `t`: expected whole milliseconds/],
      [{ needsApproval: "yes" }, /`needsApproval` of tool `t`: expected true, false, a function or/],
      [{ needsApproval: { when: 1 } }, /`needsApproval.when` of tool `t`: expected a boolean or a function, found 1/],
      [{ needsApproval: { expiresInMs: -1 } }, /`needsApproval.expiresInMs` of tool `t`: expected whole milliseconds/],
      [{ needsApproval: true, clientSide: true }, /`clientSide` and `needsApproval` do not go together/],
      [{ outputSchema: { type: "strng" } }, /`outputSchema` of tool `t` does not fit: type: expected/],
      [{ narrate: "paying" }, /`narrate` of tool `t` is expected to be a function, found "paying"/],
    ] as const)
      expect(saying(said)).toThrow(refused("invalid_tool", wanted));
  });

  it("may stand in a definition that a program has made its own", () => {
    const tool = { ...defineTool({ name: "t", execute }), owner: "ann" };
    expect(new Registry([tool]).get("t")).toBe(tool);
  });
});

const invalid: readonly (readonly [schema: unknown, where: RegExp])[] = [
  ["object", /expected a JSON Schema.*found "object"/],
  [{ type: "strng" }, /type: expected .*"string".*found "strng"/],
  [{ type: [] }, /type: expected/],
  [{ properties: [] }, /properties: expected/],
  [{ properties: { to: { type: "text" } } }, /properties\.to\.type: expected/],
  [{ properties: { to: { type: "string", required: true } } }, /properties\.to\.required: expected a list of texts/],
  [{ items: { minimum: "1" } }, /items\.minimum: expected a number/],
  [{ minimum: 0, exclusiveMinimum: true }, /exclusiveMinimum: expected a number.*true/],
  [{ pattern: "(" }, /pattern: expected a regular expression.*"\("/],
  [{ patternProperties: { "[": {} } }, /patternProperties: expected .*regular expression/],
  [{ minLength: -1 }, /minLength: expected a whole number/],
  [{ anyOf: [] }, /anyOf: expected/],
  [{ anyOf: [{}, 7] }, /anyOf\[1\]: expected a JSON Schema/],
  [{ enum: "a" }, /enum: expected a list/],
  [{ $ref: "#/$defs/nothing" }, /"#\/\$defs\/nothing" names no part of the schema/],
  [{ properties: { a: { $ref: "https://example.com/a.json" } } }, /example\.com.*names no part/],
  [{ $id: "http://[", type: "object" }, /cannot be compiled/],
  [{ default: () => 1 }, /default/],
];

describe("a JSON Schema that is none", () => {
  it.each(invalid)("is refused where a tool is defined: %j", (schema, where) => {
    const define = () => defineTool({ name: "t", inputSchema: schema as JsonSchema, execute });
    expect(define).toThrow(refused("invalid_tool", where));
    expect(define).toThrow(/tool `t`/);
  });

  it("is refused of a provider as well", () => {
    const bad = wire({ id: "tool:t", name: "t", input_schema: { type: "strng" } });
    expect(() => new Registry().provide(provider(bad))).toThrow(refused("invalid_tool", /`t`.*type: expected/));
  });

  it("is told from those that are unusual", async () => {
    const node = { properties: { next: { $ref: "#" }, home: { $ref: "#/$defs/at" }, work: { $ref: "#place" } } };
    const $defs = { at: { type: "string", format: "email", "x-note": 1 }, place: { $anchor: "place", const: "here" } };
    for (const schema of [true, {}, { ...node, $defs, nullable: true }, { items: [{ type: "null" }] }]) {
      const tool = defineTool({ name: "t", inputSchema: schema as JsonSchema, execute });
      expect(await checkArgs(tool, {})).toMatchObject({ _tag: "Right" });
    }
  });

  it("is not mistaken for one that is frozen, nor is that changed", async () => {
    const to = Object.freeze({ type: "string" });
    const schema = Object.freeze({ type: "object", properties: Object.freeze({ to, from: to }) });
    const tool = defineTool({ name: "t", inputSchema: schema, execute });
    expect(await checkArgs(tool, { to: 7 })).toMatchObject({ left: expect.stringMatching(/^arguments\.to: /) });
    const open = { type: "object", properties: { to: { type: "string" } } };
    await checkArgs(defineTool({ name: "t", inputSchema: open, execute }), { to: "a" });
    expect(Object.getOwnPropertyNames(open)).toEqual(["type", "properties"]);
  });

  it("is not mistaken for one whose arguments are integers beyond the safe range", async () => {
    const tool = defineTool({
      name: "t",
      inputSchema: { properties: { n: { type: "integer", maximum: 1e20 } } },
      execute,
    });
    expect(await checkArgs(tool, { n: 2n ** 60n })).toMatchObject({ right: { n: 2n ** 60n } });
    expect(await checkArgs(tool, { n: 10n ** 21n })).toMatchObject({ left: expect.stringMatching(/^arguments\.n: /) });
  });
});

describe("the id of a scope", () => {
  const { runtime } = new World().start([]);

  it.each(["", " ", "\t\n", "\ud800", undefined, 7])(
    "is refused where a session is asked for, being %j",
    async (id) => {
      await expect(runtime.session(id as string)).rejects.toMatchObject({
        name: "Refused",
        code: "invalid_argument",
        message: expect.stringMatching(/session's id.*expected/),
      });
    },
  );

  it.each(["", "\udc00", undefined])("is refused where a process is asked for, being %j", async (id) => {
    const wrong = { name: "Refused", code: "invalid_argument", message: expect.stringMatching(/process's id/) };
    await expect(runtime.processes.scope(id as string)).rejects.toMatchObject(wrong);
    await expect(runtime.processes.read(id as string)).rejects.toMatchObject(wrong);
    await expect(runtime.processes.cancel(id as string, null)).rejects.toMatchObject(wrong);
  });

  it("may be any other text", async () => {
    for (const id of ["a b", "söder/日本:#1", "__proto__"])
      expect((await runtime.session(id)).state.scope.id).toBe(`session:${id}`);
  });
});

describe("what a runtime is made of", () => {
  it.each([null, 7, { t: 1 }])("is no list of tools, being %j", (tools) => {
    expect(() => new World().start(tools as never)).toThrow(refused("invalid_tool", /tools are expected to be a list/));
  });

  it.each([null, undefined, "t"])("is a list with no tool in it, being %j", (tool) => {
    expect(() => new World().start([tool as never])).toThrow(refused("invalid_tool", /a tool is expected.*found/));
    expect(() => defineTool(tool as never)).toThrow(refused("invalid_tool", /`defineTool`/));
  });

  const wrong: readonly (readonly [options: object, message: RegExp])[] = [
    [{ options: { graceMs: "50" } }, /`options`: .*graceMs/],
    [{ options: { graceMs: -1 } }, /`options`: .*graceMs/],
    [{ options: { grace_ms: 50 } }, /`options.grace_ms` is no option.*graceMs/],
    [{ options: { turnLimits: { modelCalls: { limit: "2" } } } }, /`options`: .*turnLimits.modelCalls.limit/],
    [{ options: { concurrency: 0 } }, /no call could ever start/],
    [{ lease: { ttlMs: 0 } }, /`lease.ttlMs`: expected a number above 0, found 0/],
    [{ blobChars: NaN }, /`blobChars`: expected a number from 0, found NaN/],
    [{ snapshotAfter: -1 }, /`snapshotAfter`: .*found -1/],
    [{ linger: { ms: "10" } }, /`linger.ms`: .*found "10"/],
    [{ bounds: { requests: "5" } }, /`bounds.requests`: expected a number from 0, found "5"$/],
    [{ lease: { ms: -1 } }, /`lease.ttlMs`: expected a number above 0, found undefined/],
    [{ lease: { ttlMs: "x" } }, /`lease.ttlMs`: .*found "x"/],
    [{ lease: { ttlMs: 5000.5 } }, /`lease.ttlMs`: expected a whole number up to \d+, found 5000.5/],
    [{ lease: { ttlMs: Infinity } }, /`lease.ttlMs`: expected a whole number/],
    [{ lease: 5 }, /`lease.ttlMs`: expected/],
    [{ lease: "x" }, /`lease.ttlMs`: expected/],
    [{ lease: null }, /`lease.ttlMs`: expected/],
    [{ sweep: 5 }, /`sweep.everyMs`: expected a number above 0/],
    [{ retention: 5 }, /`retention.olderThanMs`: expected a number from 0/],
    [{ pollMs: 0 }, /`pollMs`: expected a number above 0, found 0/],
  ];
  it.each(wrong)("is refused before anything is recorded: %j", async (options, message) => {
    const world = new World();
    expect(() => world.start([], options)).toThrow(refused("invalid_option", message));
    expect(await world.journal.scopes("", "", 9)).toEqual([]);
  });

  it("may have no bounds", () => {
    expect(() =>
      new World().start([], { linger: { ms: 0, most: Infinity }, options: { concurrency: null } }),
    ).not.toThrow();
  });
});
