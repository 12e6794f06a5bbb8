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

it("what is done with a part is done in the order in which it is asked", async () => {
  const network = Promise.withResolvers<string>();
  const part = new Part(() => network.promise);
  const done: number[] = [];
  const use = (n: number): Promise<string> => part.use(async (loaded) => (done.push(n), loaded));
  const [first, second] = [use(1), use(2)];
  const third = part.load().then(() => use(3));
  network.resolve("there");
  expect(await Promise.all([first, second, third])).toEqual(["there", "there", "there"]);
  expect(done).toEqual([1, 2, 3]);
  void use(4);
  expect(done).toEqual([1, 2, 3, 4]);
});

it("who waits for a part that could not be loaded hears of it, and the next one asks anew", async () => {
  let asked = 0;
  const part = new Part(async () => {
    if (++asked === 1) throw new TypeError("no network");
    return "there";
  });
  await expect(part.use(async (loaded) => loaded)).rejects.toThrow("no network");
  expect(await part.use(async (loaded) => loaded)).toBe("there");
});
