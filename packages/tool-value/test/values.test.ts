import { describe, expect, it } from "vitest";
import {
  type ToolValue,
  attachment,
  attachments,
  canonicalJson,
  decode,
  encode,
  equal,
  fromJs,
  isAttachment,
  jsonFromJs,
  lift,
  mimeOf,
  parseMediaType,
  stringify,
  stringifyRecord,
  tagKey,
} from "../src/index.ts";
import { refusal, right } from "./expect.ts";

const ref = { id: "img", media_type: { kind: "image", type: "png" }, byte_len: 3, width: 1 } as const;
const picture = attachment(ref);
const tagged = { [tagKey]: "attachment", ref };
const taggedText =
  '{"$lash_tool_value":"attachment","ref":{"byte_len":3,"id":"img","media_type":{"kind":"image","type":"png"},"width":1}}';

describe("decode", () => {
  it("gives a fresh copy, keys in code unit order", () => {
    const input = { b: [1], a: { d: null, c: true }, "～": 1, "😀": 2 };
    const value = right(decode(input));
    expect(value).toEqual(input);
    expect(value).not.toBe(input);
    expect(Object.keys(value as object)).toEqual(["a", "b", "😀", "～"]);
  });

  it("reads an attachment from its tag, and drops unknown fields of the ref", () => {
    const value = right(decode({ pictures: [{ [tagKey]: "attachment", ref: { ...ref, extra: 1, label: null } }] }));
    const found = (value as { pictures: ToolValue[] }).pictures[0];
    expect(isAttachment(found) && found.ref).toEqual(ref);
  });

  it("unwraps an escaped object, and reads tags only in its children", () => {
    const entries = { [tagKey]: "attachment", ref: tagged };
    expect(right(decode({ [tagKey]: "object", entries }))).toEqual({ [tagKey]: "attachment", ref: picture });
    expect(right(decode({ [tagKey]: "object", entries: { a: 1 } }))).toEqual({ a: 1 });
  });

  it("reports the fault of a tag, and its path", () => {
    const cases = [
      [{ [tagKey]: 1 }, "reserved tool value tag must be a string"],
      [{ [tagKey]: "attachment" }, "malformed attachment tool value"],
      [{ ...tagged, extra: 1 }, "malformed attachment tool value"],
      [{ [tagKey]: "object" }, "malformed escaped object tool value"],
      [{ [tagKey]: "object", entries: {}, extra: 1 }, "malformed escaped object tool value"],
      [{ [tagKey]: "other" }, "unknown reserved tool value tag `other`"],
    ] as const;
    for (const [input, message] of cases) {
      expect(refusal(decode([{ a: input }]))).toBe(`malformed_tag: ${message} at $[0].a`);
    }
  });

  it("reports a fault inside a tag, and its path", () => {
    expect(refusal(decode({ [tagKey]: "object", entries: [] }))).toBe(
      "malformed_tag: invalid type: sequence, expected a map at $.entries",
    );
    expect(refusal(decode({ [tagKey]: "object", entries: { a: { [tagKey]: 1 } } }))).toBe(
      "malformed_tag: reserved tool value tag must be a string at $.entries.a",
    );
    expect(refusal(decode([{ [tagKey]: "attachment", ref: { id: "a" } }]))).toBe(
      "malformed_tag: missing field `media_type` at $[0].ref",
    );
    expect(refusal(decode({ [tagKey]: "attachment", ref: { ...ref, width: -1 } }))).toBe(
      "malformed_tag: invalid value: integer `-1`, expected u32 at $.ref.width",
    );
  });
});

describe("fromJs and lift", () => {
  it("take an object with the reserved key as a plain object", () => {
    for (const value of [right(fromJs(tagged)), lift(tagged)]) {
      expect(value).toEqual(tagged);
      expect(attachments(value)).toEqual([]);
      expect(canonicalJson(value)).toBe(`{"$lash_tool_value":"object","entries":${taggedText}}`);
    }
  });

  it("share no structure with their input", () => {
    const input = { list: [1] };
    const value = right(fromJs(input));
    input.list.push(2);
    expect(value).toEqual({ list: [1] });
  });
});

describe("encode", () => {
  it("gives JSON in key order, attachments as tags", () => {
    const json = encode({ b: picture, a: 1 });
    expect(JSON.stringify(json)).toBe(`{"a":1,"b":${taggedText}}`);
    expect(right(decode(json))).toEqual({ a: 1, b: picture });
  });

  it("escapes every object that has the reserved key, however deep", () => {
    const value = { [tagKey]: { [tagKey]: 0 } };
    const inner = '{"$lash_tool_value":"object","entries":{"$lash_tool_value":0}}';
    expect(JSON.stringify(encode(value))).toBe(`{"$lash_tool_value":"object","entries":{"$lash_tool_value":${inner}}}`);
  });
});

describe("jsonFromJs", () => {
  it("returns JSON literally, reserved key included, and attachments as tags", () => {
    const json = { b: [{ [tagKey]: "nope" }], a: { [tagKey]: "object", entries: { [tagKey]: 1 } } };
    expect(stringify(right(jsonFromJs(json)))).toBe(stringify(json));
    expect(stringify(right(jsonFromJs([picture, { [tagKey]: picture }])))).toBe(
      `[${taggedText},{"$lash_tool_value":${taggedText}}]`,
    );
  });

  it("returns the normal form, and refuses anything but values", () => {
    const json = right(jsonFromJs({ b: -0, a: 1e16, c: undefined }));
    expect(Object.entries(json as object)).toEqual([
      ["a", 10_000_000_000_000_000n],
      ["b", 0],
    ]);
    expect(refusal(jsonFromJs([undefined]))).toBe(refusal(fromJs([undefined])));
  });
});

describe("canonical text", () => {
  it("has keys in code unit order, even those that JavaScript orders otherwise", () => {
    expect(canonicalJson({ b: 1, "": 2, a: 3, "10": 4, "9": 5 })).toBe('{"":2,"10":4,"9":5,"a":3,"b":1}');
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${39 - i}`, i]));
    expect(Object.keys(JSON.parse(canonicalJson(many)) as object)).toEqual(Object.keys(many).toSorted());
  });

  it("has numbers as ECMAScript writes them, and integers of any size", () => {
    const numbers = [1e15, 1e16, 1e21, -0, 5e-324, 0.1, 1e-7, 9007199254740993n, -(10n ** 30n)];
    expect(canonicalJson(numbers)).toBe(
      "[1000000000000000,10000000000000000,1e+21,0,5e-324,0.1,1e-7,9007199254740993,-1000000000000000000000000000000]",
    );
  });

  it("escapes only what JSON requires", () => {
    expect(canonicalJson('"\\\b\f\n\r\t\u0001\u007f\u2028/é😀')).toBe(
      `${String.raw`"\"\\\b\f\n\r\t\u0001`}\u007f\u2028/é😀"`,
    );
  });

  it("does not escape JSON, and keeps the field order of records", () => {
    expect(stringify({ b: 1, a: { [tagKey]: 1 } })).toBe('{"a":{"$lash_tool_value":1},"b":1}');
    expect(stringifyRecord({ b: 1, a: [{ d: 1, c: 2 }] })).toBe('{"b":1,"a":[{"d":1,"c":2}]}');
    expect(stringifyRecord({ "10": 1, "9": 2, a: 3 })).toBe('{"10":1,"9":2,"a":3}');
    expect(stringifyRecord({ b: [{ "10": -0, "9": null, a: "\ud800" }], a: 1n })).toBe(
      '{"b":[{"10":0,"9":null,"a":"\\ud800"}],"a":1}',
    );
    expect(() => stringifyRecord({ a: undefined })).toThrow(TypeError);
  });
});

describe("equality", () => {
  it("is that of the canonical texts", () => {
    const pairs: readonly (readonly [ToolValue, ToolValue, boolean])[] = [
      [1e16, 10000000000000000n, true],
      [0, -0, true],
      [1, 1n, true],
      [1e21, 10n ** 21n, false],
      [1, "1", false],
      [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
      [{ a: 1 }, { a: 1, b: null }, false],
      [{ a: null }, { b: null }, false],
      [[1, 2], [2, 1], false],
      [[], {}, false],
      [[1], { "0": 1 }, false],
      [null, {}, false],
      [picture, attachment({ ...ref }), true],
      [picture, attachment({ ...ref, width: 2 }), false],
      [picture, tagged, false],
      [{ __proto__: null, a: 1 } as unknown as ToolValue, { a: 1 }, true],
      [JSON.parse('{"__proto__":{}}') as ToolValue, { a: 1 }, false],
    ];
    for (const [a, b, same] of pairs) {
      expect([equal(a, b), equal(b, a)]).toEqual([same, same]);
      expect(canonicalJson(a) === canonicalJson(b)).toBe(same);
    }
  });
});

describe("attachments", () => {
  it("are listed depth first, in array and key order, repetitions included", () => {
    const [a, b, c] = ["a", "b", "c"].map((id) => attachment({ ...ref, id })) as [ToolValue, ToolValue, ToolValue];
    const ids = attachments({ z: a, y: [b, { x: [c, a] }, b] }).map(({ id }) => id);
    expect(ids).toEqual(["b", "c", "a", "b", "a"]);
    expect(attachments(a)).toHaveLength(1);
    expect(attachments("none")).toEqual([]);
  });

  it("require a valid ref", () => {
    expect(() => attachment({ ...ref, byte_len: 1.5 })).toThrow(
      "an attachment needs a ref: invalid type: floating point `1.5`, expected u64 at $.byte_len",
    );
  });

  it("have the media type of their MIME type", () => {
    expect(parseMediaType(" IMAGE/JPG ")).toEqual({ kind: "image", type: "jpeg" });
    expect(parseMediaType("image/webp")).toEqual({ kind: "image", type: "webp" });
    expect(parseMediaType("Image/SVG+xml")).toEqual({ kind: "file", type: "image/svg+xml" });
    for (const mime of ["image/png", "application/pdf"]) expect(mimeOf(parseMediaType(mime))).toBe(mime);
  });
});
