import { expect, it } from "vitest";
import { Part } from "../src/loading.ts";

it("a part is loaded once, and asked for again where it could not be", async () => {
  let asked = 0;
  const part = new Part(async () => {
    if (++asked === 1) throw new TypeError("no network");
    return "there";
  });
  await expect(part.load()).rejects.toThrow("no network");
  expect(part.loaded).toBe(undefined);
  expect([await part.load(), await part.load()]).toEqual(["there", "there"]);
  expect([part.loaded, asked]).toEqual(["there", 2]);
});

it("a part that is at hand is loaded from the start", () => {
  expect(new Part(async () => "there", "there").loaded).toBe("there");
});
