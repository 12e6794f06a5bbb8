import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { chain, chainStart } from "../../src/log/hash.ts";
import { lines } from "./log.ts";

const sha = (text: string): string => createHash("sha256").update(text).digest("hex");
const head = (...appends: readonly (readonly string[])[]): string => appends.reduce(chain, chainStart);

it("each link of the chain is the SHA-256 of the one before and of the lines appended", () => {
  const first = chain(chainStart, lines.slice(0, 1));
  const second = chain(first, lines.slice(1));
  expect(first).toBe(sha(`${"0".repeat(64)}\n${lines[0]}`));
  expect(second).toBe(sha(`${first}\n${lines.slice(1).join("")}`));
});

it("the head of a chain vouches for every line, their order, and what was appended together", () => {
  const [a, b, c] = lines as readonly [string, string, string];
  const heads = [head([a], [b, c]), head([a, b], [c]), head([a], [b], [c]), head([a], [c, b]), head([a], [b])];
  expect(new Set(heads).size).toBe(heads.length);
  expect(head([a], [b.replace("d1", "d2"), c])).not.toBe(heads[0]);
});
