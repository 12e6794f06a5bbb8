/** Trigger occurrences of a request reach its caller with the replies. */
import { describe, expect, it } from "vitest";
import { type HostPort, defineTool } from "../src/index.ts";
import { World } from "./world.ts";

const trigger = { sourceType: "test", sourceKey: "k", payload: {} };
const request: HostPort["request"] = async (_name, input) => {
  const { idempotency_key: key } = input as { readonly idempotency_key: string };
  return { occurrence_id: `of ${key}`, started_process_ids: [] };
};
const emits = defineTool({
  name: "emits",
  durable: true,
  execute: (args, ctx) => ctx.triggers.emit({ ...trigger, idempotencyKey: (args as { key: string }).key }),
});
const nests = defineTool({
  name: "nests",
  durable: true,
  execute: (_, ctx) => ctx.callAll([{ label: "x", tool: "emits", args: { key: "inner" } }]),
});
const calls = [
  { label: "c1", tool: "emits", args: { key: "outer" } },
  { label: "c2", tool: "nests", args: {} },
];
const idsOf = (triggers: unknown): unknown =>
  (triggers as readonly { readonly occurrence_id: string }[] | undefined)
    ?.map(({ occurrence_id: id }) => id)
    .toSorted();

describe("the replies of a request", () => {
  it.each([
    [1, ["of outer"]],
    [2, ["of inner", "of outer"]],
  ])("have its trigger occurrences, under protocol %i those of %j", async (protocol, found) => {
    const world = new World(protocol);
    const session = await world.start([emits, nests], { host: { request } }).runtime.session("s");
    expect(idsOf((await session.request("r", calls)).triggers)).toEqual(found);
    expect(idsOf((await session.replies("r")).triggers)).toEqual(found);
    expect(idsOf((await session.request("r", calls)).triggers)).toEqual(found);
  });

  it("have no such member where nothing was triggered", async () => {
    const quiet = defineTool({ name: "quiet", execute: () => 1 });
    const session = await new World(2).start([quiet]).runtime.session("s");
    expect("triggers" in (await session.request("r", [{ label: "c1", tool: "quiet", args: {} }]))).toBe(false);
  });
});
