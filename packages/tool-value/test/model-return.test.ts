import { describe, expect, it } from "vitest";
import {
  type ToolValue,
  attachment,
  cancelledOutput,
  errorOutput,
  failureOutput,
  formatToolOutput,
  modelParts,
  modelPartsFromOutput,
  modelReturn,
  runtimeCancellation,
  successOutput,
  tagKey,
  textReturn,
  toolFailure,
} from "../src/index.ts";

const ref = { id: "img", media_type: { kind: "image", type: "png" }, byte_len: 3 } as const;
const picture = attachment(ref);
const part = { type: "attachment", ...ref };
const text = (said: string): object => ({ type: "text", text: said });

describe("the parts of a value", () => {
  it("are one raw text for a string, and none for an empty one", () => {
    expect(modelParts('say "hi"\n')).toEqual([text('say "hi"\n')]);
    expect(modelParts("")).toEqual([]);
  });

  it("are compact JSON in key order for anything else", () => {
    expect(modelParts({ b: [1, "x", null], a: 10n ** 20n })).toEqual([
      text('{"a":100000000000000000000,"b":[1,"x",null]}'),
    ]);
    expect(modelParts([""])).toEqual([text('[""]')]);
  });

  it("break around attachments, without empty texts", () => {
    const cases: readonly (readonly [ToolValue, readonly object[]])[] = [
      [picture, [part]],
      [
        [picture, picture],
        [text("["), part, text(","), part, text("]")],
      ],
      [{ z: 1, a: picture }, [text('{"a":'), part, text(',"z":1}')]],
      [
        ["before", picture, "after"],
        [text('["before",'), part, text(',"after"]')],
      ],
    ];
    for (const [value, parts] of cases) expect(modelParts(value)).toEqual(parts);
  });

  it("show the reserved key as an ordinary key", () => {
    expect(modelParts({ [tagKey]: "user" })).toEqual([text('{"$lash_tool_value":"user"}')]);
  });
});

describe("what a model reads of an output", () => {
  const broken = toolFailure("execution", "secret_code", "it broke");

  it("is the value of a success", () => {
    expect(modelPartsFromOutput(successOutput([picture]))).toEqual([text("["), part, text("]")]);
    expect(formatToolOutput(successOutput("as it is"))).toBe("as it is");
    expect(formatToolOutput(successOutput([picture]))).toBe(
      '[{"$lash_tool_value":"attachment","ref":{"byte_len":3,"id":"img","media_type":{"kind":"image","type":"png"}}}]',
    );
  });

  it("is the end of the call and its message, never code, class or retry", () => {
    expect(modelPartsFromOutput(failureOutput(broken))).toEqual([text("[Tool execution failed]\nit broke")]);
    expect(formatToolOutput(failureOutput({ ...broken, message: "" }))).toBe("[Tool execution failed]");
    expect(formatToolOutput(cancelledOutput(runtimeCancellation("stop")))).toBe("[Tool execution cancelled]\nstop");
    expect(formatToolOutput(errorOutput({ b: 1, a: 2 }))).toBe('[Tool execution failed]\n{"a":2,"b":1}');
  });

  it("has the attachments of the raw value, and nothing else of it", () => {
    const output = failureOutput({ ...broken, raw: { shown: picture, hidden: "detail" } });
    expect(modelPartsFromOutput(output)).toEqual([text("[Tool execution failed]\nit broke"), part]);
  });

  it("has the call's id and the tool's name", () => {
    expect(modelReturn("c1", "search", successOutput(1))).toEqual({
      call_id: "c1",
      tool_name: "search",
      parts: [text("1")],
    });
    expect(textReturn("c1", "search", "found")).toEqual({ call_id: "c1", tool_name: "search", parts: [text("found")] });
  });
});
