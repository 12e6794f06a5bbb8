import * as t from "io-ts";
import { describe, expect, it } from "vitest";
import * as v from "../src/index.ts";
import { refusal, right } from "./expect.ts";

const rewritten = <A>(codec: v.Codec<A>, text: string): string =>
  v.stringifyRecord(codec.encode(right(v.read(codec, right(v.parse(text))))));
const failure =
  '{"class":"timeout","code":"c","message":"m","source":"tool","retry":{"type":"safe","after_ms":5},"raw":[1]}';
const refused = <A>(codec: v.Codec<A>, input: unknown): string =>
  refusal(v.read(codec, input)).replace("invalid_record: ", "");

const outcomeOf = (result: v.ToolResult): unknown => (result.type === "done" ? result.output.outcome : undefined);
const payloadOf = (resolution: v.Resolution): unknown => v.outputOfResolution(resolution).outcome.payload;

describe("a written record", () => {
  it("has its fields in wire order, whatever order they were read in", () => {
    const shuffled =
      '{"raw":[1],"retry":{"after_ms":5,"type":"safe"},"source":"tool","message":"m","code":"c","class":"timeout"}';
    expect(rewritten(v.ToolFailure, shuffled)).toBe(failure);
    const output = `{"control":{"failure":${failure},"type":"fail"},"outcome":{"payload":null,"status":"success"}}`;
    expect(rewritten(v.ToolCallOutput, output)).toBe(
      `{"outcome":{"status":"success","payload":null},"control":{"type":"fail","failure":${failure}}}`,
    );
  });

  it("has the JSON and the values inside it in key order", () => {
    const text =
      '{"tool":"t","args":{"b":1,"a":[1.0,1e16]},"output":{"outcome":{"status":"success","payload":{"d":1,"c":2}}},"duration_ms":0}';
    expect(rewritten(v.ToolCallRecord, text)).toBe(
      '{"tool":"t","args":{"a":[1,10000000000000000],"b":1},"output":{"outcome":{"status":"success","payload":{"c":2,"d":1}}},"duration_ms":0}',
    );
  });

  it("has known fields only", () => {
    expect(rewritten(v.Duration, '{"secs":1,"days":2,"nanos":3}')).toBe('{"secs":1,"nanos":3}');
    expect(rewritten(v.Resolution, '{"status":"timeout","payload":1}')).toBe('{"status":"timeout"}');
  });
});

describe("a field", () => {
  it("that is optional counts null as absent, and is not written", () => {
    const ref = '{"id":"a","media_type":{"kind":"file","type":"x"},"byte_len":1';
    expect(rewritten(v.AttachmentRef, `${ref},"width":null,"label":null}`)).toBe(`${ref}}`);
    expect(v.stringifyRecord(v.ToolCancellation.encode({ message: "m", source: "tool", raw: null }))).toBe(
      '{"message":"m","source":"tool"}',
    );
  });

  it("that is nullable is written as null, even if it was absent", () => {
    const event = '{"type":"tool_call_started","call_id":null,"name":"n","args":null}';
    expect(rewritten(v.TurnEvent, event)).toBe(event);
    expect(rewritten(v.TurnEvent, '{"type":"tool_call_started","name":"n","args":null}')).toBe(event);
    expect(rewritten(v.SessionEvent, '{"type":"tool_call_start","call_id":null,"name":"n","args":null}')).toBe(
      '{"type":"tool_call_start","name":"n","args":null}',
    );
  });

  it("of an activity is one of its event, or one of its own", () => {
    const activity =
      '{"id":"u","correlation_id":"tool:c","type":"tool_call_started","call_id":null,"name":"n","args":{}}';
    expect(rewritten(v.TurnActivity, activity)).toBe(activity);
    expect(refused(v.TurnActivity, { id: "u", type: "tool_call_started" })).toBe("missing field `correlation_id`");
  });

  it("that has a default gets it if it is absent", () => {
    expect(rewritten(v.PendingCompletion, "{}")).toBe(
      '{"on_timeout":"error_as_result","on_cancel":"cancel_external_work"}',
    );
    const frame = '{"type":"switch_agent_frame","frame_id":"f"}';
    expect(right(v.read(v.ToolControl, JSON.parse(frame)))).toHaveProperty("initial_nodes", []);
    expect(rewritten(v.ToolControl, frame)).toBe(frame);
    const nodes = '{"type":"switch_agent_frame","frame_id":"f","initial_nodes":[null],"task":"t"}';
    expect(rewritten(v.ToolControl, nodes)).toBe(nodes);
  });

  it("that is required may be null if null is a value", () => {
    expect(refused(v.ToolCallOutcome, { status: "success" })).toBe("missing field `payload`");
    expect(right(v.read(v.ToolCallOutcome, { status: "success", payload: null }))).toHaveProperty("payload", null);
  });
});

describe("an error", () => {
  it("reports what was found and what was expected, and where", () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [null, "invalid type: null, expected struct Duration"],
      [[], "invalid type: sequence, expected struct Duration"],
      [{ secs: 1 }, "missing field `nanos`"],
      [{ secs: "1", nanos: 0 }, 'invalid type: string "1", expected u64 at $.secs'],
      [{ secs: true, nanos: 0 }, "invalid type: boolean `true`, expected u64 at $.secs"],
      [{ secs: 1.5, nanos: 0 }, "invalid type: floating point `1.5`, expected u64 at $.secs"],
      [{ secs: {}, nanos: 0 }, "invalid type: map, expected u64 at $.secs"],
    ];
    for (const [input, message] of cases) expect(refused(v.Duration, input)).toBe(message);
  });

  it("has the path through records, arrays and maps, and into a value", () => {
    const parts = [
      { type: "text", text: "a" },
      { type: "text", text: 1 },
    ];
    expect(refused(v.ModelToolReturn, { call_id: "c", tool_name: "t", parts })).toBe(
      "invalid type: integer `1`, expected a string at $.parts[1].text",
    );
    const template = { template: "", fields: { "a b": { pointer: 1 } } };
    expect(refused(v.ProcessValueSelector, { template })).toBe(
      'invalid type: integer `1`, expected a string at $.template.fields["a b"].pointer',
    );
    const payload = { list: [1, { [v.tagKey]: 1 }] };
    expect(refused(v.ToolCallOutput, { outcome: { status: "success", payload } })).toBe(
      "reserved tool value tag must be a string at $.outcome.payload.list[1]",
    );
  });

  it("of a number beyond the range names the range", () => {
    const codec = v.Duration;
    expect(right(v.read(codec, { secs: 2 ** 53 - 1, nanos: 2 ** 32 - 1 }))).toEqual({
      secs: 2 ** 53 - 1,
      nanos: 2 ** 32 - 1,
    });
    expect(refused(codec, { secs: 2n ** 53n, nanos: 0 })).toBe(
      "invalid value: integer `9007199254740992`, expected u64 of at most 9007199254740991 at $.secs",
    );
    expect(refused(codec, { secs: 2n ** 64n - 1n, nanos: 0 })).toBe(
      "invalid value: integer `18446744073709551615`, expected u64 of at most 9007199254740991 at $.secs",
    );
    expect(refused(codec, { secs: -1, nanos: 0 })).toBe("invalid value: integer `-1`, expected u64 at $.secs");
    expect(refused(codec, { secs: 0, nanos: 2 ** 32 })).toBe(
      "invalid value: integer `4294967296`, expected u32 at $.nanos",
    );
  });
});

describe("a union", () => {
  it("is selected by its tag, and no member is tried", () => {
    expect(refused(v.ToolControl, { frame_id: "f" })).toBe("missing field `type`");
    expect(refused(v.ToolControl, { type: 1 })).toBe(
      "invalid type: integer `1`, expected a ToolControl type at $.type",
    );
    expect(refused(v.ToolControl, { type: "constructor" })).toBe(
      "unknown variant `constructor`, expected one of `switch_agent_frame`, `finish`, `fail` at $.type",
    );
    expect(refused(v.ToolControl, { type: "fail", value: 1 })).toBe("missing field `failure`");
    expect(refused(v.MediaType, { kind: "audio" })).toBe(
      "unknown variant `audio`, expected `image` or `file` at $.kind",
    );
    expect(refused(v.ToolControl, "fail")).toContain("expected ToolControl");
  });

  it("without a tag is selected by its only key, or is a string", () => {
    expect(rewritten(v.ProcessValueSelector, '"payload"')).toBe('"payload"');
    expect(rewritten(v.ProcessValueSelector, '{"const":{"b":1,"a":2}}')).toBe('{"const":{"a":2,"b":1}}');
    expect(refused(v.ProcessValueSelector, "other")).toContain("unknown variant `other`, expected one of `payload`");
    for (const input of [{}, { pointer: "", present: "" }, [], null]) {
      expect(refused(v.ProcessValueSelector, input)).toContain("a map with one key");
    }
    expect(refused(v.ProcessValueSelector, { __proto__: null, other: 1 })).toContain("unknown variant `other`");
  });
});

describe("an output", () => {
  it("from an error has it as message and, lifted, as raw value", () => {
    const { outcome } = v.errorOutput({ [v.tagKey]: "nope" });
    expect(outcome.payload).toEqual({
      class: "execution",
      code: "tool_error",
      message: '{"$lash_tool_value":"nope"}',
      source: "tool",
      retry: { type: "never" },
      raw: { [v.tagKey]: "nope" },
    });
    expect(outcomeOf(v.err("bad"))).toEqual(v.errorOutput("bad").outcome);
    expect(v.replyError({ [v.tagKey]: "nope" }).output.outcome.payload).toHaveProperty(
      "raw",
      "unserializable tool error",
    );
  });

  it("projects the same before it is written and after it is read, even if the error is null", () => {
    for (const output of [v.errorOutput(null), v.replyError(null).output, v.errorOutput([null])]) {
      const replayed = right(v.read(v.ToolCallOutput, v.ToolCallOutput.encode(output)));
      expect(replayed).toEqual(output);
      expect(v.resultForProjection(replayed)).toEqual(v.resultForProjection(output));
    }
    const byHand = v.failureOutput({ ...v.toolFailure("execution", "c", "m"), raw: null });
    expect(v.resultForProjection(byHand)).toEqual(
      v.resultForProjection(v.failureOutput(v.toolFailure("execution", "c", "m"))),
    );
  });

  it("projects its raw value, or else its failure or cancellation", () => {
    expect(v.resultForProjection(v.successOutput([1]))).toEqual([1]);
    expect(v.resultForProjection(v.errorOutput([1]))).toEqual([1]);
    expect(v.valueForProjection(v.errorOutput([1]))).toHaveProperty("raw", [1]);
    const cancelled = v.cancelledOutput(v.runtimeCancellation("m"));
    expect(v.resultForProjection(cancelled)).toEqual({ message: "m", source: "cancellation" });
    expect([v.statusOf(cancelled), v.isSuccess(cancelled), v.isSuccess(v.successOutput(1))]).toEqual([
      "cancelled",
      false,
      true,
    ]);
  });

  it("from a wait reports the wait's end", () => {
    expect(payloadOf({ status: "ok", payload: { b: 1, a: 2 } })).toEqual({ a: 2, b: 1 });
    expect(payloadOf({ status: "err", payload: { code: "c", message: "m", raw: [1] } })).toMatchObject({
      code: "c",
      raw: [1],
    });
    expect(payloadOf({ status: "timeout" })).toMatchObject({
      class: "timeout",
      code: "tool_completion_timeout",
      source: "runtime",
    });
    expect(payloadOf({ status: "cancelled" })).toEqual({
      message: "pending tool completion cancelled",
      source: "cancellation",
    });
  });

  it("from a body is the returned value, or the reason why it is not a value", () => {
    expect(outcomeOf(v.resultOf({ a: 1 }))).toEqual({ status: "success", payload: { a: 1 } });
    expect(outcomeOf(v.resultOf([new Date(0)]))).toMatchObject({
      payload: {
        message: "Failed to serialize tool result: expected a plain object or array, found an instance of Date at $[0]",
      },
    });
    class Odd {
      readonly x = 1;
    }
    Object.defineProperty(Odd, "name", { value: "\ud800" });
    expect(outcomeOf(v.resultOf(new Odd()))).toMatchObject({ status: "failure" });
  });

  it("takes a control, unless the call is pending", () => {
    const finish = { type: "finish", value: 1 } as const;
    expect(v.withControl(v.ok(1), finish)).toHaveProperty("output.control", finish);
    expect(v.withControl(v.pending({ deadline: { secs: 1, nanos: 0 } }), finish)).toEqual({
      type: "pending",
      pending: { deadline: { secs: 1, nanos: 0 }, on_timeout: "error_as_result", on_cancel: "cancel_external_work" },
    });
  });

  it("of a safe retry says when", () => {
    expect(v.safeRetryFailure("external", "c", "m", 250).retry).toEqual({ type: "safe", after_ms: 250 });
    expect(v.safeRetryFailure("external", "c", "m").retry).toEqual({ type: "safe" });
    expect(v.safeRetryFailure("external", "c", "m").source).toBe("tool");
  });
});

describe("a codec", () => {
  it("is an io-ts type, and combines with io-ts' own", () => {
    expect(v.ToolFailure).toBeInstanceOf(t.Type);
    const Pair = t.tuple([v.u32, v.Duration]);
    expect(Pair.decode([1, { secs: 2, nanos: 3, extra: 4 }])).toEqual(t.success([1, { secs: 2, nanos: 3 }]));
    expect(Pair.decode([-1, null])).toHaveProperty("_tag", "Left");
    const Upper = v.string.pipe(new t.Type("Upper", t.string.is, (s: string) => t.success(s.toUpperCase()), String));
    expect(v.read(Upper, "a")).toEqual(t.success("A"));
  });
});
