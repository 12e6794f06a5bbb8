/** Tests who looks into inboxes: mail of one scope holds up none of others. */
import { expect, it } from "vitest";
import { type Addressee, InboxPoller } from "../src/message/inbox-poller.ts";
import { TestPlatform } from "./world.ts";

const quiet = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

const empty: Addressee = { scopeLinks: { inbox: { look: async () => true } as Addressee["scopeLinks"]["inbox"] } };

/** A post that looks every 100 ms where mail lies; a scope is opened when its promise says so. */
const begin = (opening: (scope: string) => Promise<unknown>) => {
  const platform = new TestPlatform();
  const mail = new Set<string>();
  const opened: string[] = [];
  const post = new InboxPoller({
    platform,
    instance: "i",
    mailed: async (_, limit) => [...mail].slice(0, limit),
    open: async (scope) => {
      opened.push(scope);
      await opening(scope);
      mail.delete(scope);
      return empty;
    },
    isHere: async () => true,
    isShared: true,
    report: () => undefined,
  });
  post.watch(100);
  const pass = async (rounds: number): Promise<void> => {
    for (let i = 0; i < rounds; i++) {
      platform.advance(100);
      await quiet();
    }
  };
  return { post, mail, opened, pass };
};

it("takes the mail of others while one scope takes long to open", async () => {
  const slow = Promise.withResolvers<void>();
  const { post, mail, opened, pass } = begin(async (scope) => (scope === "slow" ? slow.promise : undefined));
  mail.add("slow");
  await pass(1);
  mail.add("other");
  await pass(2);
  expect(opened).toEqual(["slow", "other"]);
  slow.resolve();
  await quiet();
  mail.add("slow");
  await pass(1);
  expect(opened).toEqual(["slow", "other", "slow"]);
  post.stop();
});

it("opens no more than 64 scopes at a time, and the next as soon as there is room", async () => {
  const slow = Array.from({ length: 100 }, () => Promise.withResolvers<void>());
  const { post, mail, opened, pass } = begin((scope) => slow[Number(scope)]?.promise ?? Promise.resolve());
  for (let i = 0; i < 100; i++) mail.add(`${i}`);
  await pass(5);
  expect(opened).toHaveLength(64);
  for (let i = 0; i < 10; i++) slow[i]?.resolve();
  await quiet();
  await pass(5);
  expect(opened).toHaveLength(74);
  expect(new Set(opened).size).toBe(74);
  post.stop();
});
