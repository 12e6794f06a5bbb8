/** Templates, references, types and numbers of flows, where the given cases do not look. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { argumentText, bodyOf } from "../../src/flow/program.ts";
import { coerce, compares, decimalText, finiteOf, floatJson, floatOf } from "../../src/flow/value.ts";
import { interpolate, iterated, trimmed, valueReference } from "../../src/flow/text.ts";

const bound = (bindings: object): Map<string, string> => new Map(Object.entries(bindings));

describe("a template", () => {
  it("keeps what stands around its holes to the code point", () => {
    expect(interpolate("é${x}日$x😀", bound({ x: "ü" }))).toBe("éü日ü😀");
    expect(interpolate("$éx $$x \\${x} $", bound({ x: "1" }))).toBe("$éx $1 \\1 $");
  });
  it("takes a name as it stands, and does not look into what it put in", () => {
    expect(interpolate("${ x }|${${x}}|${}", bound({ x: "1", " x ": "2", "": "3" }))).toBe("2|${${x}}|3");
    expect(interpolate("${a}${b}", bound({ a: "${b}", b: "$a" }))).toBe("${b}$a");
  });
  it("walks objects, and texts that hold one, but neither lists nor inherited fields", () => {
    const json = bound({ o: '{"a":{"b":"{\\"c\\":[1,{}]}"},"l":[1],"n":null,"t":true}' });
    expect(interpolate("${o.a.b.c} ${o.l} ${o.n} ${o.t}", json)).toBe("[1,{}] [1] null true");
    expect(interpolate("${o.l.0} ${o.toString} ${o.n.x} ${o.}", json)).toBe("${o.l.0} ${o.toString} ${o.n.x} ${o.}");
    expect(interpolate("${s.a}", bound({ s: '"{\\"a\\":1}"' }))).toBe("1");
  });
  it("looks into what it always did, though values from outside have a bound more by now", () => {
    const list = `[${"9".repeat(60_000)},${"9".repeat(60_000)}]`;
    expect(interpolate("${o.a}", bound({ o: `{"a":${list}}` }))).toBe(list);
    expect(coerce(list, "List<String>")).toHaveLength(2);
    expect(coerce(list, "List<String>")).toEqual([BigInt("9".repeat(60_000)), BigInt("9".repeat(60_000))]);
  });
  it("without a `$` is itself, and stops where it is too long", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const plain = text.replaceAll("$", "");
        expect(interpolate(plain, bound({ a: "b" }))).toBe(plain);
      }),
    );
    expect(interpolate("$a".repeat(1000), bound({ a: "x".repeat(1000) }), 5000).length).toBeLessThan(10_000);
  });
  it("of many braces takes time that grows with it", () => {
    const text = "${".repeat(200_000);
    expect(interpolate(text, bound({}))).toBe(text);
    expect(trimmed(`a${" ".repeat(200_000)}b`)).toHaveLength(200_002);
  });
  it("stands for a value where there is a `$`, else a reference, else the text", () => {
    const bindings = bound({ a: "1", "b.output": "2", c: "3" });
    const values = ["$a", "a", "b.output", "c.output", "c.output.output", "d"];
    expect(values.map((text) => valueReference(text, bindings))).toEqual(["1", "1", "2", "3", "c.output.output", "d"]);
  });
});

describe("types", () => {
  it("hold integers of 64 bits, exactly", () => {
    const texts = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "-0", "0".repeat(50)];
    expect(texts.map((text) => coerce(text, "Int"))).toEqual([2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n, 0, 0]);
    const others = ["9223372036854775808", "-9223372036854775809", "1_0", "", "+", "٣", "1".repeat(100_000)];
    expect(others.filter((text) => coerce(text, "Int") !== text)).toEqual([]);
  });
  it("keep of lists what is JSON as it is, and read the rest piece by piece", () => {
    expect(coerce("[1, 2]", "List<String>")).toEqual([1, 2]);
    expect(coerce("[1, x, 'a,b', {y, z}]", "List<Int>")).toEqual([1, "x", "a,b", "{y, z}"]);
    expect(coerce("[true, no]", " List < Bool > ? ")).toEqual([true, "no"]);
    expect(coerce("[x]", "List")).toEqual(["x"]);
    expect(coerce("", "List<Int>")).toEqual([""]);
    expect(coerce("[", "List<Int>")).toEqual(["["]);
    expect(coerce("[1]]", "List<List<Int>>")).toEqual(["1]"]);
  });
  it("make a body whose text shows its floats, in the order of its names", () => {
    const parameters = [
      ["f", "Float?"],
      ["g", "Float"],
      ["__proto__", "Int"],
    ] as const;
    const body = bodyOf(
      [
        ["g", "1e21"],
        ["f", "5"],
        ["__proto__", "1"],
        ["a", "é"],
      ],
      parameters,
    );
    expect(argumentText(body, parameters)).toBe('{"__proto__":1,"a":"é","f":5.0,"g":1e21}');
    expect(argumentText("as it is", [])).toBe("as it is");
    expect(argumentText([1, { b: 2, a: 1 }], [])).toBe('[1,{"a":1,"b":2}]');
  });
});

describe("numbers", () => {
  it("are read as decimals, and nothing else", () => {
    const no = ["", " 1", "1 ", "0x1", "1e", ".", "1_0", "Infinity", "--1", "1.2.3", "e5"];
    expect(no.filter((text) => finiteOf(text) !== undefined)).toEqual([]);
    expect(["+.5", "5.", "-1E-2", "1e308"].map(finiteOf)).toEqual([0.5, 5, -0.01, 1e308]);
    expect(["inf", "-Infinity", "nan", "1e400"].map(floatOf)).toEqual([Infinity, -Infinity, NaN, Infinity]);
  });
  it("are written without an exponent, and read back the same", () => {
    expect([1e21, 1e-7, -0, 5e-324, 123.456, -1e15, Infinity].map(decimalText)).toEqual([
      "1000000000000000000000",
      "0.0000001",
      "0",
      `0.${"0".repeat(323)}5`,
      "123.456",
      "-1000000000000000",
      "inf",
    ]);
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(decimalText(value))).toBe(value + 0);
        expect(Number(floatJson(value))).toBe(value);
        expect(floatJson(value)).toMatch(/[.e]/);
      }),
    );
  });
  it("compare as such where both are, else by code points", () => {
    const bindings = bound({ x: "10" });
    expect(compares(["x", ">", "9"], bindings)).toBe(true);
    expect(compares(["x", ">", "9a"], bindings)).toBe(false);
    expect(compares(["nan", "<=", "1"], bindings)).toBe(false);
    expect(compares(["\u{1f600}", ">", "\uffff"], bindings)).toBe(true);
    expect(compares(["inf", ">=", "Infinity"], bindings)).toBe(true);
  });
});

describe("what a loop goes over", () => {
  it("is a list, the rows of what is tainted, or texts between commas", () => {
    expect(iterated('["a", 1, null, {"b":2}]')).toEqual(["a", "1", "null", '{"b":2}']);
    expect(iterated('{"taint":"x"}')).toEqual([]);
    expect(iterated('{"taint":1,"rows":[1]}')).toEqual(['{"taint":1', '"rows":[1]}']);
    expect(iterated(" a ,\u00a0b ,, ")).toEqual(["a", "b"]);
  });
});
