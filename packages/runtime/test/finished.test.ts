/** Tests that what has left a scope's state is found in memory, or in the store's index: never in neither. */
import type { Finished } from "@pawl/sansio-core";
import { expect, it } from "vitest";
import { FinishedIndex } from "../src/scope/history.ts";

/** A scope whose events are durable as soon as they are stepped, or so many later, and the index of its store. */
const begin = (isNew: boolean, behind = 0) => {
  const stored = new Map<string, number>();
  const asked: string[] = [];
  let seq = 0;
  const find = async (kind: Finished["kind"], id: string): Promise<number | undefined> => {
    asked.push(id);
    return stored.get(`${kind} ${id}`);
  };
  const index = new FinishedIndex(find, () => seq - behind, { isNew });
  const finish = (id: string): void => {
    seq += 1;
    if (behind === 0) stored.set(`request ${id}`, seq);
    index.note([{ kind: "request", id }], seq);
  };
  return { index, asked, finish };
};

it("asks no store for what a scope has finished that began in this life", async () => {
  const { index, asked, finish } = begin(true);
  for (let i = 1; i <= 100; i++) finish(`r${i}`);
  expect(await Promise.all(["r1", "r100", "r101"].map((id) => index.find("request", id)))).toEqual([1, 100, undefined]);
  expect(await index.find("task", "r1")).toBe(undefined);
  expect(asked).toEqual([]);
});

it("asks the store for what an earlier life may have finished", async () => {
  const { index, asked, finish } = begin(false);
  finish("r1");
  finish("r2");
  expect(await Promise.all(["r1", "r2", "r3"].map((id) => index.find("request", id)))).toEqual([1, 2, undefined]);
  expect(asked).toEqual(["r1", "r2", "r3"]);
});

it("asks no store for what is not durable yet", async () => {
  const { index, finish } = begin(false, 2);
  finish("r1");
  finish("r2");
  expect(await Promise.all(["r1", "r2"].map((id) => index.find("request", id)))).toEqual([1, 2]);
});

it("finds what finishes while the store is asked, and asks it for that from then on", async () => {
  const { index, asked, finish } = begin(false);
  const looked = ["r1", "r2"].map((id) => index.find("request", id));
  finish("r1");
  finish("r2");
  expect(await Promise.all(looked)).toEqual([1, 2]);
  finish("r3");
  expect(await index.find("request", "r2")).toBe(2);
  expect(asked).toEqual(["r1", "r2", "r2"]);
});

it("forgets what is durable once it is much, and finds it all the same", async () => {
  const { index, asked, finish } = begin(true);
  for (let i = 1; i <= 512; i++) finish(`r${i}`);
  expect([await index.find("request", "r1"), asked]).toEqual([1, []]);
  finish("r513");
  expect(await Promise.all(["r1", "r513", "r514"].map((id) => index.find("request", id)))).toEqual([1, 513, undefined]);
  expect(asked).toEqual(["r1", "r513", "r514"]);
});
