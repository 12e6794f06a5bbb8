import { describe, expect, it } from "vitest";
import { AttachmentRef, InvalidValue, parseJson, parseWith, safeParseJson, safeParseWith } from "../src/index.ts";

const ref = { id: "a", media_type: { kind: "image", type: "png" }, byte_len: 3 };

describe("a program reads", () => {
  it("text with exact integers, and is told by a throw where it is wrong", () => {
    expect(parseJson('{"b": 9007199254740993}')).toEqual({ b: 9_007_199_254_740_993n });
    expect(() => parseJson('{"b": [1, 2')).toThrow(InvalidValue);
    expect(() => parseJson("[1,]")).toThrow(expect.objectContaining({ code: "invalid_json" }));
  });

  it("text without a throw", () => {
    expect(safeParseJson("[1]")).toEqual({ success: true, data: [1] });
    expect(safeParseJson("[1,]")).toMatchObject({ success: false, error: { code: "invalid_json" } });
  });

  it("values by a codec, with the place of what is wrong", () => {
    expect(parseWith(AttachmentRef, ref)).toMatchObject({ id: "a", byte_len: 3 });
    const wrong = { ...ref, byte_len: "3" };
    expect(() => parseWith(AttachmentRef, wrong)).toThrow(/byte_len/);
    expect(safeParseWith(AttachmentRef, wrong)).toMatchObject({ success: false, error: { path: ["byte_len"] } });
    expect(safeParseWith(AttachmentRef, ref).success).toBe(true);
  });
});
