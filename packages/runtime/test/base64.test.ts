/** Bytes as base64, held against Node's own. */
import { describe, expect, it } from "vitest";
import { base64Of, bytesOf } from "../src/encoding.ts";

const bytesUpTo = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7919) >> 3);

describe("bytes as base64", () => {
  it("are what Node says they are, and come back", () => {
    for (const length of [0, 1, 2, 3, 4, 5, 255, 256, 257, 100_000]) {
      const bytes = bytesUpTo(length);
      const text = base64Of(bytes);
      expect(text).toBe(Buffer.from(bytes).toString("base64"));
      expect(bytesOf(text)).toEqual(bytes);
    }
  });

  it("may be a part of others", () => {
    const part = bytesUpTo(1000).subarray(7, 700);
    expect(base64Of(part)).toBe(Buffer.from(part).toString("base64"));
  });

  it.each(["*", "a", "ab=c", "é"])("are not in %s", (text) => {
    expect(() => bytesOf(text)).toThrow();
  });
});
