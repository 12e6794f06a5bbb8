import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { attachment, hashText, parse, stableHash, utf8, valueHash } from "../src/index.ts";
import { right } from "./expect.ts";

interface HashCase {
  readonly op: string;
  readonly input: { readonly json: string };
  readonly expect: { readonly canonical: string; readonly sha256: string };
}
const file = resolve(import.meta.dirname, "../../../cases/values.json");
const cases = (JSON.parse(readFileSync(file, "utf8")) as readonly HashCase[]).filter(
  ({ op }) => op === "stable_json_sha256",
);

describe("a hash", () => {
  it("equals the published digest", () => {
    expect(cases.length).toBeGreaterThan(0);
    for (const { input, expect: known } of cases) {
      expect(stableHash(right(parse(input.json)))).toBe(known.sha256);
      expect(hashText(known.canonical)).toBe(known.sha256);
    }
    expect(hashText("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  });

  it("differs between an attachment and an object that looks like one", () => {
    const ref = { id: "a", media_type: { kind: "file", type: "x" }, byte_len: 1 } as const;
    const json = { $lash_tool_value: "attachment", ref };
    expect(valueHash(attachment(ref))).toBe(stableHash(json));
    expect(valueHash(json)).not.toBe(stableHash(json));
  });
});

describe("UTF-8", () => {
  it("equals the platform's, at every length and boundary", () => {
    const points = [0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x1_0000, 0x10_ffff];
    const text = String.fromCodePoint(...points);
    expect(Buffer.from(utf8(text))).toEqual(Buffer.from(text));
    expect(utf8("")).toHaveLength(0);
    for (const length of [54, 55, 56, 63, 64, 65, 1000]) {
      const long = "é".repeat(length);
      expect(hashText(long)).toBe(createHash("sha256").update(long).digest("hex"));
    }
  });
});
