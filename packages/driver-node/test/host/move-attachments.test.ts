/** Attachments move between hosts made by `openRuntime`: they arrive before the session does. */
import { readdirSync } from "node:fs";
import { attachment, attachments } from "@pawl/tool-value";
import { type Runtime, defineTool } from "@pawl/runtime";
import type { Mover } from "@pawl/runtime/driver";
import { moverOver } from "@pawl/wire";
import { afterAll, afterEach, expect, it } from "vitest";
import { aesCodec, diskAttachments, memoryKeys, openRuntime, type OpenOptions } from "../../src/index.ts";
import { testFolder } from "../sqlite-rig.ts";
import { clientOf, hostOf } from "./rig.ts";
import { use } from "./tools.ts";

const folder = testFolder();
afterAll(folder.remove);
const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

/** More than one frame may carry. */
const size = 5 * 1024 * 1024;
const draws = defineTool({
  name: "draws",
  durable: true,
  execute: async (_, ctx) => {
    const bytes = Uint8Array.from({ length: size }, (__, i) => (i * 7919) >> 3);
    return attachment(await ctx.attachments.put(bytes, { media_type: { kind: "image", type: "png" } }));
  },
});

const placeAt = async (name: string, mover?: (to: string) => Mover, more: Partial<OpenOptions> = {}) => {
  const file = folder.file(name);
  const { runtime, close } = openRuntime({ file, tools: [draws], ...(mover && { mover }), ...more });
  closings.push(close);
  return { file, runtime, host: await hostOf([], { runtime }) };
};

const drawn = async (runtime: Runtime): Promise<string> => {
  const [reply] = await (await runtime.session("s")).request("r", use("draws"));
  const outcome = reply?.output.outcome;
  return (outcome?.status === "success" && attachments(outcome.payload)[0]?.id) || "none";
};

it("are sent over the wire with their session, piece by piece", async () => {
  const there = await placeAt("there");
  const here = await placeAt("here", () => moverOver(clientOf(there.host, { rights: ["move"] })));
  const id = await drawn(here.runtime);
  await here.runtime.move("session:s", there.host.url);
  const stored = await diskAttachments(`${there.file}.attachments`).bytes(id);
  expect(stored).toEqual(await diskAttachments(`${here.file}.attachments`).bytes(id));
  expect(stored).toHaveLength(size);
});

it("are left behind if they would be unsealed: a host without its own store gets none", async () => {
  const faults: string[] = [];
  const host = { fault: (what: string) => void faults.push(what) };
  const sealed = await placeAt("sealed", undefined, { codec: aesCodec(memoryKeys()), host });
  const open = await placeAt("open", () => moverOver(clientOf(sealed.host, { rights: ["move"] })));
  await drawn(open.runtime);
  await open.runtime.move("session:s", sealed.host.url);
  expect(faults).toEqual(["attachments of session:s were not kept: there is no store for them here"]);
  expect(readdirSync(folder.file(".")).filter((name) => name === "sealed.attachments")).toEqual([]);
});
