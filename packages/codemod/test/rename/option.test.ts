import { describe, expect, it } from "vitest";
import { processStart, scopeOption, trigger } from "../../src/rename/option.ts";
import { rewritten } from "./frame.ts";

const options = (before: string): string => rewritten(scopeOption, before);
const triggers = (before: string): string => rewritten(trigger, before);

describe("options of scopes are written in camelCase", () => {
  it("where they are written out, spread, chosen, or a constant; nested limits too", () => {
    expect(options("openRuntime({ file, options: { effects_ms: 5, concurrency: 2, max_runs } });")).toBe(
      "openRuntime({ file, options: { effectsMs: 5, concurrency: 2, maxRuns: max_runs } });",
    );
    expect(options("const quick = { crash_pauses_ms: [] };\nnew Runtime({ journal, options: quick });")).toBe(
      "const quick = { crashPausesMs: [] };\nnew Runtime({ journal, options: quick });",
    );
    expect(options("start({ options: isShort ? { stop_ms: 1 } : { ...{ stop_ms: 2 } } });")).toBe(
      "start({ options: isShort ? { stopMs: 1 } : { ...{ stopMs: 2 } } });",
    );
    expect(options("start({ options: { turn_limits: { model_calls: { limit: 2 } } } });")).toBe(
      "start({ options: { turnLimits: { modelCalls: { limit: 2 } } } });",
    );
  });

  it("but not in events of a log, nor in options of something else", () => {
    const others = [
      'const e = { type: "scope.opened", epoch: 1, options: { effects_ms: 5 } };',
      "const other = { options: { some_field: 1, effects_ms: 2 } };",
      "const limit = state.scope.options.effects_ms;",
    ].join("\n");
    expect(options(others)).toBe(others);
  });
});

describe("triggers are written in camelCase", () => {
  it("with what is taken out of their answer", () => {
    const before =
      'const { occurrence_id } = await ctx.triggers.emit({ source_type: "t", source_key: k, payload: 1, idempotency_key: "i" });';
    expect(triggers(before)).toBe(
      'const { occurrenceId: occurrence_id } = await ctx.triggers.emit({ sourceType: "t", sourceKey: k, payload: 1, idempotencyKey: "i" });',
    );
  });

  it("but no other events that are emitted", () => {
    const others = 'emitter.emit("done", { source_type: "t", more_of: 1 });\nconst { occurrence_id } = await read();';
    expect(triggers(others)).toBe(others);
  });
});

describe("what a body says when it starts a process is written in camelCase", () => {
  it("and the registration that a host writes keeps the names of the log", () => {
    expect(rewritten(processStart, 'ctx.processes.start({ id, input, event_types, env_ref: "e" });')).toBe(
      'ctx.processes.start({ id, input, eventTypes: event_types, envRef: "e" });',
    );
    const host = "runtime.processes.start({ id, input, identity, provenance, event_types: [] });";
    expect(rewritten(processStart, host)).toBe(host);
  });
});
