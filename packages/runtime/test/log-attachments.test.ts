/** Bytes of attachments go with an exported log where they are asked for, and are there before the log that names them. */
import { replay } from "@pawl/sansio-core";
import { describe, expect, it } from "vitest";
import { type AttachmentStore, defineTool, importLog, logText, memoryJournal } from "../src/index.ts";
import { attachmentId, memoryAttachments } from "../src/driver.ts";
import { World } from "./world.ts";

const scope = "session:s";
const bytes = new Uint8Array(300).map((_, i) => i % 251);
const id = attachmentId(bytes);
const meta = { media_type: { kind: "file", type: "image/png" } } as const;

/** Names what it puts in a large value, so that the log itself does not. */
const draw = defineTool({
  name: "draw",
  execute: async (_, ctx) => {
    const ref = await ctx.attachments.put(bytes, meta);
    return { ref: ref.id, padding: "x".repeat(70_000) };
  },
});

const begin = async (store: AttachmentStore = memoryAttachments()) => {
  const world = new World();
  const { runtime } = world.start([draw], { host: { attachments: store } });
  await (await runtime.session("s")).request("r", [{ label: "c", tool: "draw", args: {} }]);
  const faults: string[] = [];
  const fault = (what: string): void => void faults.push(what);
  const exported = async (attachments?: AttachmentStore) =>
    (await logText(world.journal, scope, { attachments, fault })) ?? [];
  return { world, store, exported, faults };
};

const brought = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => line.startsWith('{"attachment":'));

describe("attachments in an export", () => {
  it("are those that the log and its large values name, before its first event", async () => {
    const { store, exported } = await begin();
    await store.put(attachmentId(new Uint8Array([1])), new Uint8Array([1]));
    const lines = await exported(store);
    expect(lines.slice(1, 3).map((line) => Object.keys(JSON.parse(line)))).toEqual([
      ["blob", "bytes"],
      ["attachment", "bytes"],
    ]);
    expect(brought(lines)).toEqual([`{"attachment":"${id}","bytes":"${Buffer.from(bytes).toString("base64")}"}\n`]);
    expect(lines.filter((line) => !brought([line]).includes(line))).toEqual(await exported());
  });

  it("are read past by whoever replays the log, and told to who asks", async () => {
    const { store, exported } = await begin();
    const told: string[] = [];
    const replayed = replay(await exported(store), { onAttachment: ({ attachment }) => void told.push(attachment) });
    expect([replayed.fault, told]).toEqual([undefined, [id]]);
    expect(replayed.events).toBe(replay(await exported()).events);
  });

  it("are in the store there before the log is", async () => {
    const { store, exported } = await begin();
    const [there, into] = [memoryJournal(), memoryAttachments()];
    const scopes: unknown[] = [];
    const put: AttachmentStore["put"] = async (...of) => {
      scopes.push(await there.scopes("", "", 10));
      await into.put(...of);
    };
    await importLog(there, "i", await exported(store), { attachments: { ...into, put } });
    expect([await into.bytes(id), scopes]).toEqual([bytes, [[]]]);
    expect(await logText(there, scope, { attachments: into })).toEqual(await exported(store));
  });

  it("that are gone or spoilt stay behind", async () => {
    const { store, exported, faults } = await begin();
    const spoilt = { ...store, bytes: async () => new Uint8Array([1]) };
    expect(brought(await exported(spoilt))).toEqual([]);
    expect(faults).toEqual([`attachment ${id} does not match its name, and stays behind`]);
    expect(brought(await exported(memoryAttachments()))).toEqual([]);
  });

  it("are refused where there is no store for them, or they are not what they say, and the log with them", async () => {
    const { store, exported } = await begin();
    const lines = await exported(store);
    const there = memoryJournal();
    await expect(importLog(there, "i", lines)).rejects.toMatchObject({ code: "attachment_not_kept" });
    const other = lines.map((line) => line.replace(/(?<="attachment":"[^"]*","bytes":")..../, "AAAA"));
    const attachments = memoryAttachments();
    await expect(importLog(there, "i", other, { attachments })).rejects.toMatchObject({ code: "attachment_corrupt" });
    expect(await there.scopes("", "", 10)).toEqual([]);
    await importLog(there, "i", await exported());
  });

  it("stand nowhere behind the first event", async () => {
    const { store, exported } = await begin();
    const lines = [...(await exported()), ...brought(await exported(store))];
    expect(replay(lines).fault).toMatchObject({ code: "record_invalid" });
  });
});
