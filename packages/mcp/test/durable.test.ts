/** Tests what a client is told is durable: a handle is answered once its task is in the journal, and no sooner. */
import { nodePlatform } from "@pawl/driver-node";
import { type Journal, Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import { expect, it } from "vitest";
import { serveMcp } from "../src/index.ts";
import { ask } from "./open.ts";

const waits = defineTool({ name: "waits", durable: true, execute: (_: unknown, context) => context.sleep(60_000) });

/** A journal whose appends wait while the gate is closed. */
const gated = (journal: Journal) => {
  const gate = { opened: Promise.resolve(), open: () => undefined as void };
  const held = new Proxy(journal, {
    get: (target, name) => {
      const found: unknown = Reflect.get(target, name, target);
      if (typeof found !== "function") return found;
      if (name !== "appendAll") return found.bind(target) as unknown;
      return async (...of: readonly unknown[]) => {
        await gate.opened;
        return Reflect.apply(found, target, of) as unknown;
      };
    },
  });
  const close = (): void => {
    gate.opened = new Promise((resolve) => {
      gate.open = resolve;
    });
  };
  return { journal: held, close, open: () => gate.open() };
};

it("a handle is not answered before its task is durable", async () => {
  const { journal, close, open } = gated(memoryJournal());
  const roots = { newest: { kid: "k", secret: new Uint8Array(32).fill(7) } };
  const runtime = new Runtime({ journal, platform: nodePlatform, instance: "one", roots, tools: [waits] });
  const served = serveMcp(runtime, { tools: { waits: { task: "always" } } });
  await runtime.session("mcp/local");
  close();
  let isAnswered = false;
  const answer = ask(served.fetch, "tools/call", { name: "waits", arguments: {} }).then((said) => {
    isAnswered = true;
    return said;
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(isAnswered).toBe(false);
  open();
  expect((await answer).result).toMatchObject({ resultType: "task", status: "working" });
  await served.close();
  await runtime.close();
});
