import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { type ProcessValueSelector, at, render, select } from "../src/index.ts";

const payload = { a: [{ "b/c": 1 }, "two"], "m~n": null, "": { "": 3 }, "0": "zero" };

describe("a pointer", () => {
  it("names a part by RFC 6901", () => {
    expect(at("", payload)).toBe(payload);
    expect(at("/a/0/b~1c", payload)).toBe(1);
    expect(at("/m~0n", payload)).toBeNull();
    expect(at("//", payload)).toBe(3);
    expect(at("/0", payload)).toBe("zero");
    expect(at("/x", { "~1": 1, x: 2 })).toBe(2);
    expect(at("/~01", { "~1": 1 })).toBe(1);
  });

  it("names nothing but own parts, not what JavaScript would find", () => {
    for (const pointer of ["a", "/b", "/a/2", "/a/-", "/a/00", "/a/length", "/a/1/0", "/constructor", "/m~0n/x"]) {
      expect(at(pointer, payload)).toBeUndefined();
    }
  });
});

describe("a selector", () => {
  it("selects the payload, a part of it, a constant, or the presence of a part", () => {
    expect(select("payload", 1)).toEqual(E.right(1));
    expect(select({ pointer: "/a/1" }, payload)).toEqual(E.right("two"));
    expect(select({ const: [1] }, payload)).toEqual(E.right([1]));
    expect(select({ present: "/m~0n" }, payload)).toEqual(E.right(true));
    expect(select({ present: "/gone" }, payload)).toEqual(E.right(false));
    expect(select({ pointer: "/gone" }, payload)).toEqual(E.left("payload pointer `/gone` did not match"));
  });

  it("fills a template with strings as they are and anything else as compact JSON", () => {
    const fields: { [name: string]: ProcessValueSelector } = { x: { pointer: "/a/1" }, y: { pointer: "/a/0" } };
    expect(select({ template: { template: "{x} {y} {x} {z} $&", fields } }, payload)).toEqual(
      E.right('two {"b/c":1} two {z} $&'),
    );
    expect(select({ template: { template: "", fields: { x: { pointer: "/gone" } } } }, payload)).toEqual(
      E.left("payload pointer `/gone` did not match"),
    );
    expect(select({ template: { template: "{x}", fields: { x: { const: "$&$1" } } } }, payload)).toEqual(
      E.right("$&$1"),
    );
  });

  it("fills the fields in code unit order", () => {
    const fields: { [name: string]: ProcessValueSelector } = { "9": { const: "b" }, "10": { const: "{9}" } };
    expect(select({ template: { template: "{10}", fields } }, null)).toEqual(E.right("b"));
  });

  it("renders a string as it is and anything else as compact JSON", () => {
    expect([render("a"), render({ b: 1, a: null })]).toEqual(["a", '{"a":null,"b":1}']);
  });
});
