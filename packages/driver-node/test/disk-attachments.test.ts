/** Attachments are as durable as the log that refers to them. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AttachmentRef, attachment, attachments } from "@pawl/tool-value";
import { defineTool } from "@pawl/runtime";
import { memoryAttachments } from "@pawl/runtime/driver";
import { afterEach, beforeEach, expect, it } from "vitest";
import { aesCodec, diskAttachments, memoryKeys, openRuntime, type OpenOptions } from "../src/index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pawl-attachments-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const bytes = new TextEncoder().encode("the bytes of a picture");
const draws = defineTool({
  name: "draws",
  durable: true,
  execute: async (_, ctx) =>
    attachment(await ctx.attachments.put(bytes, { media_type: { kind: "image", type: "png" } })),
});

/** Returns the answer of a session whose process has ended. */
const drawn = async (more: Partial<OpenOptions> = {}): Promise<AttachmentRef | undefined> => {
  const { runtime, close } = openRuntime({ file: join(folder, "journal.db"), tools: [draws], ...more });
  const session = await runtime.session("s");
  const [reply] = await session.request("r", [{ label: "c", tool: "draws", args: {} }]);
  await close();
  const outcome = reply?.output.outcome;
  return outcome?.status === "success" ? attachments(outcome.payload)[0] : undefined;
};
const beside = (): string => join(folder, "journal.db.attachments");

it("attachments are stored beside the journal, and survive their process", async () => {
  const ref = await drawn();
  expect(ref?.byte_len).toBe(bytes.length);
  expect(await diskAttachments(beside()).bytes(ref?.id ?? "")).toEqual(bytes);
  expect(await diskAttachments(beside()).bytes("0".repeat(64))).toBeUndefined();
});

it("a host's own store is used instead", async () => {
  const own = memoryAttachments();
  const ref = await drawn({ host: { attachments: own } });
  expect(await own.bytes(ref?.id ?? "")).toEqual(bytes);
  expect(existsSync(beside())).toBe(false);
});

it("attachments are not stored in the open beside sealed values", async () => {
  await drawn({ codec: aesCodec(memoryKeys()) });
  expect(readdirSync(folder).filter((name) => name.endsWith(".attachments"))).toEqual([]);
});
