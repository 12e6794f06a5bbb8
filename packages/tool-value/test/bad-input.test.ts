import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import * as v from "../src/index.ts";
import { refusal, right } from "./expect.ts";
import { identical } from "./reference.ts";

const { decode, defaultLimits, fromJs, noLimits, parse, tagKey } = v;
const ref = { id: "a", media_type: { kind: "file", type: "text/plain" }, byte_len: 1 } as const;
const nested = (depth: number, inner: unknown = []): unknown =>
  Array.from({ length: depth - 1 }).reduce((below) => [below], inner);

const within = (size: number, input: unknown): boolean => E.isRight(fromJs(input, { ...defaultLimits, size }));
const templateOf = (a: unknown): unknown => ({ template: { template: "", fields: { a } } });
const long = (digits: number): string => "9".repeat(digits);
const explode = (): never => {
  throw new Error("hostile");
};

describe("limits", () => {
  it("have fixed defaults", () => {
    expect(defaultLimits).toEqual({
      depth: 256,
      size: 33_554_432,
      keys: 100_000,
      digits: 100_000,
      longDigits: 100_000,
    });
  });

  it("allow 256 levels of containers and no more, in text and in JavaScript", () => {
    const message = "too_deep: a value may be 256 levels deep at $[0][0][0][0][0][0][0][0][0][0][0][0]";
    expect(E.isRight(parse(`${"[".repeat(256)}${"]".repeat(256)}`))).toBe(true);
    expect(E.isRight(decode(nested(256)))).toBe(true);
    expect(refusal(parse(`${"[".repeat(257)}${"]".repeat(257)}`))).toContain(message);
    expect(refusal(decode(nested(257)))).toContain(message);
    expect(refusal(fromJs(nested(257)))).toContain(message);
  });

  it("count an escaped object, and an attachment, as one level", () => {
    const escaped = { [tagKey]: "object", entries: { a: { [tagKey]: "attachment", ref } } };
    expect(E.isRight(decode(escaped, { ...defaultLimits, depth: 2 }))).toBe(true);
    expect(refusal(decode(escaped, { ...defaultLimits, depth: 1 }))).toContain("1 levels deep at $.entries.a");
  });

  it("bound the size of a text by its length", () => {
    const limits = { ...defaultLimits, size: 10 };
    expect(right(parse('"12345678"', limits))).toBe("12345678");
    expect(refusal(parse('"123456789"', limits))).toBe("too_large: a text may have a size of 10, this one has 11");
  });

  it("bound the size of a value by its keys, its strings and the number of its parts", () => {
    for (const [input, size] of [
      ["abc", 4],
      [["a", "b"], 5],
      [{ key: 1 }, 5],
      [[[], null, true, 2, 3n], 6],
    ] as const) {
      expect([within(size, input), within(size - 1, input)]).toEqual([true, false]);
    }
  });

  it("bound the keys of one object, whichever parser reads the text", () => {
    const limits = { ...defaultLimits, keys: 2 };
    for (const value of ["1", "12345678901234567890"]) {
      expect(E.isRight(parse(`[{"a":1,"b":2},{"c":3,"d":${value}}]`, limits))).toBe(true);
      expect(E.isRight(parse(`{"a":1,"a":2,"a":3,"b":${value}}`, limits))).toBe(true);
      expect(refusal(parse(`{"a":1,"b":2,"c":${value}}`, limits))).toBe(
        "too_many_keys: an object may have 2 keys at $.c",
      );
    }
    const refused = "too_many_keys: an object may have 2 keys, this one has 3";
    expect(refusal(decode({ a: 1, b: 2, c: 3 }, limits))).toBe(refused);
    expect(refusal(decode({ [tagKey]: "object", entries: { a: 1, b: 2, c: 3 } }, limits))).toBe(refused);
  });

  it("bound the digits of an integer, not counting its sign", () => {
    const limits = { ...defaultLimits, digits: 20 };
    expect(right(parse("-12345678901234567890", limits))).toBe(-12345678901234567890n);
    expect(refusal(parse("123456789012345678901", limits))).toBe(
      "too_many_digits: an integer may have 20 digits, this one has 21",
    );
    expect(right(fromJs(-(10n ** 20n) + 1n, limits))).toBe(-(10n ** 20n) + 1n);
    expect(refusal(fromJs([10n ** 20n], limits))).toBe("too_many_digits: an integer may have 20 digits at $[0]");
  });

  it("bound the digits of long integers together, since their cost grows faster than their size", () => {
    const refused = "too_many_digits: integers of more than 5000 digits may have 100000 together at $[1]";
    const gates: ((text: string) => E.Either<v.ValueError, unknown>)[] = [
      (text) => parse(text),
      (text) => decode(right(parse(text, noLimits))),
      (text) => fromJs(right(parse(text, noLimits))),
    ];
    for (const gate of gates) {
      expect(refusal(gate(`[${long(100_000)},-${long(5001)}]`))).toBe(refused);
      expect(refusal(gate(`[${long(60_000)},${long(60_000)},1]`))).toBe(refused);
      expect(E.isRight(gate(`[${long(50_000)},-${long(50_000)}]`))).toBe(true);
      expect(E.isRight(gate(`[${long(100_000)}${`,${long(5000)}`.repeat(30)}]`))).toBe(true);
    }
  });

  it("count the digits of an integer without writing it out", () => {
    const limits = { ...defaultLimits, digits: 50 };
    for (const digits of [48, 49, 50, 51, 52]) {
      for (const n of [10n ** BigInt(digits - 1), 10n ** BigInt(digits) - 1n]) {
        for (const signed of [n, -n]) expect(E.isRight(fromJs(signed, limits))).toBe(digits <= 50);
      }
    }
  });

  it("stop the reading of a shared graph that would unfold for ever", () => {
    const graph = Array.from({ length: 200 }).reduce((below) => [below, below], []);
    const limits = { ...defaultLimits, size: 100_000 };
    for (const gate of [decode, fromJs]) expect(refusal(gate(graph, limits))).toContain("too_large");
  });

  it("stop the reading of an array that claims infinite length", () => {
    const endless = new Proxy([], { get: (_, key) => (key === "length" ? Infinity : 1) });
    expect(refusal(fromJs(endless, { ...defaultLimits, size: 1000 }))).toContain("too_large");
  });
});

describe("a million levels", () => {
  const depth = 1_000_000;
  const text = `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const deep = nested(depth) as v.Json;

  it("are an error of every gate", () => {
    expect(refusal(parse(text))).toContain("too_deep");
    expect(refusal(parse('{"a":'.repeat(depth)))).toContain("too_deep");
    for (const gate of [decode, fromJs]) expect(refusal(gate(deep))).toContain("too_deep");
  });

  it("pass without limits", () => {
    expect(v.stringify(right(parse(text, noLimits)))).toBe(text);
    for (const gate of [decode, fromJs]) expect(v.canonicalJson(right(gate(deep, noLimits)))).toBe(text);
    expect(v.canonicalJson(v.lift(deep))).toBe(text);
    expect(v.stringify(v.encode(deep))).toBe(text);
    expect(v.stringifyRecord(deep)).toBe(text);
  });

  it("pass through every operation on values", () => {
    expect(v.equal(deep, v.lift(deep))).toBe(true);
    expect(v.equal(deep, nested(depth + 1) as v.Json)).toBe(false);
    expect(v.modelParts(deep)).toEqual([{ type: "text", text }]);
    expect(v.attachments(nested(depth, [v.attachment(ref)]) as v.ToolValue)).toEqual([ref]);
    expect(v.valueHash(deep)).toBe(v.hashText(text));
  });

  it("are an error of a record that nests itself", () => {
    const selector = Array.from({ length: depth }).reduce(templateOf, "payload");
    expect(refusal(v.read(v.ProcessValueSelector, selector))).toContain("invalid_record: reading the record threw");
  });
});

describe("keys with a meaning in JavaScript", () => {
  const text =
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"hasOwnProperty":1,"toString":2}';

  it("are ordinary keys, whichever parser reads the text", () => {
    for (const source of [text, text.replace("2", "12345678901234567890")]) {
      const value = right(decode(right(parse(source))));
      expect(v.canonicalJson(value)).toBe(source);
      expect(v.stringify(v.encode(value))).toBe(source);
      expect(v.canonicalJson(right(fromJs(value)))).toBe(source);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
      expect(v.equal(value, right(parse(source)))).toBe(true);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("are ordinary keys of records", () => {
    const template = JSON.parse('{"template":{"template":"{__proto__}","fields":{"__proto__":"payload"}}}') as unknown;
    const selector = right(v.read(v.ProcessValueSelector, template));
    expect(v.stringifyRecord(v.ProcessValueSelector.encode(selector))).toBe(JSON.stringify(template));
    expect(v.select(selector, 7)).toEqual(E.right("7"));
  });
});

describe("lone surrogates", () => {
  const message = "a string must not hold a lone surrogate";

  it("are refused in texts, escaped or not, in keys too", () => {
    for (const half of ["\ud800", "\udc00", String.raw`\ud800`, String.raw`\udBFF\udbff`]) {
      expect(refusal(parse(`["${half}"]`))).toBe(`invalid_value: ${message} at $[0]`);
      expect(refusal(parse(`{"a":{"${half}":1}}`))).toBe(`invalid_value: ${message} at $.a`);
    }
  });

  it("are refused in values, in keys too, and shown escaped", () => {
    for (const gate of [decode, fromJs]) {
      expect(refusal(gate(["\udc00\ud800"]))).toBe(`invalid_value: ${message} at $[0]`);
      expect(refusal(gate({ a: { "\ud800": 1 } }))).toBe(`invalid_value: ${message} at $.a["\\ud800"]`);
    }
  });

  it("are refused in the texts of records and attachments", () => {
    expect(refusal(v.read(v.ToolCancellation, { message: "\ud800", source: "tool" }))).toBe(
      `invalid_record: ${message} at $.message`,
    );
    const tagged = { [tagKey]: "attachment", ref: { ...ref, id: "\ud800" } };
    expect(refusal(decode(tagged))).toBe(`malformed_tag: ${message} at $.ref.id`);
    expect(() => v.attachment({ ...ref, label: "\ud800" })).toThrow(`${message} at $.label`);
  });

  it("are replaced in messages that quote them", () => {
    expect(refusal(decode({ [tagKey]: "\ud800" }))).toBe("malformed_tag: unknown reserved tool value tag `\ufffd`");
    expect(refusal(v.read(v.ToolControl, { type: "\ud800" }))).toContain("unknown variant `\ufffd`");
  });

  it("are valid as pairs", () => {
    expect(right(parse(String.raw`"\ud83d\ude00"`))).toBe("😀");
    expect(right(fromJs({ "😀": "😀" }))).toEqual({ "😀": "😀" });
  });
});

describe("numbers of JavaScript", () => {
  it("lose the sign of zero everywhere", () => {
    for (const zero of [right(fromJs(-0)), right(decode(-0)), v.lift(-0), right(decode(right(parse("-0"))))]) {
      expect(Object.is(zero, 0)).toBe(true);
    }
    expect(identical(right(v.read(v.Duration, { secs: -0, nanos: -0 })), { secs: 0, nanos: 0 })).toBe(true);
  });

  it("are refused if they are not finite", () => {
    const message = "invalid_value: non-finite number is not a valid tool value at $.a";
    for (const a of [Number.NaN, Infinity, -Infinity]) {
      for (const gate of [decode, fromJs]) expect(refusal(gate({ a }))).toBe(message);
      expect(() => v.lift({ a })).toThrow("non-finite number is not a valid tool value at $.a");
      expect(() => v.canonicalJson({ a })).toThrow(TypeError);
    }
  });

  it("are refused out of range, whichever parser reads the text", () => {
    expect(refusal(parse("[1e400]"))).toBe("invalid_value: the number 1e400 is out of range at $[0]");
    expect(refusal(parse("-1e400"))).toBe("invalid_value: the number -1e400 is out of range");
    expect(refusal(parse("[12345678901234567890,1e400]"))).toContain("1e400 is out of range at $[1]");
  });

  it("are numbers in the safe range and bigints beyond it, whatever their type was", () => {
    const safe = Number.MAX_SAFE_INTEGER;
    const cases = [
      [5n, 5],
      [BigInt(safe), safe],
      [-BigInt(safe), -safe],
      [BigInt(safe) + 1n, 9007199254740992n],
      [safe + 1, 9007199254740992n],
      [-safe - 1, -9007199254740992n],
      [1e16, 10000000000000000n],
      [2 ** 60, 1152921504606847000n],
      [1e21, 1e21],
      [1.5, 1.5],
    ] as const;
    for (const [input, value] of cases) {
      for (const gate of [decode, fromJs]) expect(right(gate(input))).toBe(value);
    }
  });
});

describe("objects of JavaScript", () => {
  it("are refused if they contain themselves, at any distance", () => {
    const near: { self?: unknown } = {};
    near.self = near;
    const far: unknown[] = [];
    far.push(nested(10_000, [far]));
    for (const gate of [decode, fromJs]) {
      for (const cyclic of [near, far]) {
        expect(refusal(gate(cyclic))).toMatch(/^invalid_value: a value must not contain itself|^too_deep/);
        expect(refusal(gate(cyclic, noLimits))).toContain("a value must not contain itself");
      }
    }
    expect(refusal(fromJs(near, { ...defaultLimits, depth: 100 }))).toContain("a value must not contain itself");
  });

  it("may occur in several places", () => {
    const shared = { a: 1 };
    expect(right(fromJs([shared, shared]))).toEqual([{ a: 1 }, { a: 1 }]);
  });

  it("are an error if reading them throws", () => {
    const message = "invalid_value: reading the value threw: it has a getter or is a proxy";
    const getter = Object.defineProperty({}, "a", { enumerable: true, get: explode });
    const traps = ["get", "ownKeys", "getPrototypeOf"].map((trap) => new Proxy({ a: 1 }, { [trap]: explode }));
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    for (const hostile of [getter, proxy, ...traps]) {
      for (const gate of [decode, fromJs]) expect(refusal(gate([hostile]))).toContain(message);
      expect(refusal(v.read(v.toolValue, hostile))).toContain("reading the value threw");
    }
    expect(refusal(fromJs([1, { b: getter }]))).toBe(`${message} at $[1].b.a`);
    expect(refusal(v.read(v.Duration, Object.defineProperty({}, "secs", { get: explode })))).toBe(
      "invalid_record: reading the record threw: it has a getter, is a proxy, or is too deep",
    );
  });

  it("never have their toJSON called", () => {
    expect(refusal(fromJs({ a: 1, toJSON: () => 2 }))).toBe(
      "invalid_value: a function is not a valid tool value at $.toJSON",
    );
    expect(v.canonicalJson(right(fromJs({ a: 1, toJSON: "text" })))).toBe('{"a":1,"toJSON":"text"}');
    const inherited = Object.create({ toJSON: explode }) as object;
    expect(refusal(fromJs(inherited))).toContain("found an instance of Object");
  });

  it("are refused with the name of their class, if they have one", () => {
    class Point {
      readonly x = 1;
    }
    const instances = [
      new Date(0),
      new Map(),
      new Set(),
      /x/,
      new Error("e"),
      new Point(),
      Object(1),
      Promise.resolve(),
    ];
    for (const instance of instances) {
      expect(refusal(fromJs({ due: instance }))).toBe(
        `invalid_value: expected a plain object or array, found an instance of ${instance.constructor.name} at $.due`,
      );
    }
    expect(refusal(fromJs(Object.create({ constructor: null })))).toContain("found an instance of a class");
  });

  it("should be stored as attachments if they are bytes", () => {
    const bytes = [new Uint8Array(2), new Float64Array(1), new DataView(new ArrayBuffer(1)), Buffer.from("x")];
    for (const some of [...bytes, new ArrayBuffer(3)]) {
      expect(refusal(fromJs(some))).toContain(`an instance of ${some.constructor.name}; store bytes as an attachment`);
    }
  });

  it("are plain without a prototype, or with one from another realm", async () => {
    const { runInNewContext } = await import("node:vm");
    expect(right(fromJs(Object.assign(Object.create(null) as object, { a: 1 })))).toEqual({ a: 1 });
    expect(right(fromJs(runInNewContext("({ a: [1] })")))).toEqual({ a: [1] });
  });

  it("keep own enumerable properties with string keys", () => {
    const object = { a: 1, [Symbol("b")]: 2 };
    Object.defineProperty(object, "c", { value: 3, enumerable: false });
    expect(right(fromJs(object))).toEqual({ a: 1 });
    expect(right(fromJs(Object.assign([1], { extra: 2 })))).toEqual([1]);
  });
});

describe("a JavaScript value without JSON", () => {
  it("is dropped from objects if undefined, and refused in arrays and at the root", () => {
    expect(Object.keys(right(fromJs({ a: undefined, b: 1 })) as object)).toEqual(["b"]);
    expect(refusal(fromJs([undefined]))).toBe("invalid_value: undefined is not a valid tool value at $[0]");
    expect(refusal(fromJs(undefined))).toBe("invalid_value: undefined is not a valid tool value");
    expect(refusal(decode(undefined))).toBe("invalid_value: undefined is not a valid tool value");
  });

  it("is refused if it is a hole in an array", () => {
    const sparse: unknown[] = [1];
    sparse[2] = 3;
    expect(refusal(fromJs(sparse))).toBe("invalid_value: a hole in an array is not a valid tool value at $[1]");
    expect(refusal(fromJs(Array.from({ length: 2 ** 20 }).fill(0, 1)))).toContain("at $[0]");
    expect(refusal(fromJs(Array(2 ** 32 - 1)))).toContain("a hole in an array");
  });

  it("is refused if it is a function or a symbol", () => {
    expect(refusal(fromJs({ a: () => 1 }))).toBe("invalid_value: a function is not a valid tool value at $.a");
    expect(refusal(fromJs([Symbol("s")]))).toBe("invalid_value: a symbol is not a valid tool value at $[0]");
  });

  it("makes the writers throw", () => {
    for (const wrong of [undefined, () => 1, Symbol("s")]) {
      expect(() => v.canonicalJson([wrong as unknown as v.ToolValue])).toThrow(TypeError);
      expect(() => v.stringify([wrong as unknown as v.Json])).toThrow(TypeError);
    }
  });
});

describe("attachments", () => {
  it("pass fromJs only; decode and lift refuse them", () => {
    const picture = v.attachment(ref);
    expect(right(fromJs([picture]))).toEqual([picture]);
    expect(refusal(decode([picture]))).toContain("found an instance of Attachment at $[0]");
    expect(() => v.lift([picture] as unknown as v.Json)).toThrow("found an instance of Attachment at $[0]");
    expect(() => v.stringify(picture as unknown as v.Json)).toThrow("encode the value first");
  });

  it("cannot be forged", () => {
    const forgeries = [{ ref }, Object.create(v.Attachment.prototype), { [tagKey]: "attachment", ref }];
    for (const forged of forgeries) expect(v.isAttachment(forged)).toBe(false);
    expect(refusal(fromJs(forgeries[1]))).toContain("found an instance of Attachment");
    expect(v.attachments(right(fromJs(forgeries[2])))).toEqual([]);
  });

  it("cannot be changed", () => {
    const picture = v.attachment(ref);
    expect(() => Object.assign(picture, { extra: 1 })).toThrow(TypeError);
    expect(() => Object.assign(picture.ref, { id: "b" })).toThrow(TypeError);
    expect(() => Object.assign(picture.ref.media_type, { type: "b" })).toThrow(TypeError);
  });
});

describe("hostile texts", () => {
  it("are refused in time that grows with their length", () => {
    const size = 1_000_000;
    const texts = [
      "\\".repeat(8 * size),
      `"${"\\n".repeat(size)}"${" ".repeat(size)}`,
      "1".repeat(99_999),
      "[".repeat(size),
    ];
    for (const text of [...texts, `0.${"1".repeat(size)}`, `${"[".repeat(200)}${"9".repeat(size)}`]) {
      const start = performance.now();
      parse(text);
      expect(performance.now() - start).toBeLessThan(5000);
    }
  });

  it("of another type than string are an error", () => {
    for (const wrong of [undefined, null, 1, {}, Buffer.from("1")]) {
      expect(refusal(parse(wrong as string))).toBe("invalid_json: expected a text");
    }
  });

  it("do not make the engine mistake one key for another", () => {
    JSON.parse('{"h":[],"\\\\":0}');
    const value = right(parse('{"h":1,"\\"":2,"\\n" :3}')) as object;
    expect(Object.keys(value)).toEqual(["h", '"', "\n"]);
  });
});
