import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { blobChecks } from "@pawl/testkit";
import { afterAll, describe, expect, it } from "vitest";
import { diskBlobs } from "../src/index.ts";
import { testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

const name = "ab".repeat(32);
const bytes = new TextEncoder().encode("some bytes");

describe("blobs on disk", () => {
  for (const [i, { name: title, run }] of blobChecks.entries()) {
    it(title, async () => {
      let now = 1_700_000_000_000;
      await run({
        open: async () => diskBlobs(file(`suite-${i}`), { now: () => now }),
        pass: (ms) => (now += ms),
      });
    });
  }

  it("leave nothing but the blob in its folder", async () => {
    const folder = file("tidy");
    await diskBlobs(folder).put("s", name, bytes);
    expect(readdirSync(join(folder, "ab"))).toEqual([name]);
  });

  it("survive a death during their removal, and are restored at the next sweep", async () => {
    const folder = file("half-removed");
    const store = diskBlobs(folder);
    await store.put("s", name, bytes);
    const path = join(folder, "ab", name);
    renameSync(path, `${path}.dead`);
    expect(await store.read("s", name)).toEqual(bytes);
    expect(await store.old(0)).toEqual([name]);
    expect(statSync(path).size).toBe(bytes.length);
  });

  it("keep the time of their last put if a removal was interrupted", async () => {
    let now = 1_700_000_000_000;
    const folder = file("put-meanwhile");
    const store = diskBlobs(folder, { now: () => now });
    await store.put("s", name, bytes);
    const path = join(folder, "ab", name);
    renameSync(path, `${path}.dead`);
    now += 10_000;
    await store.put("s", name, bytes);
    now += 1000;
    expect(await store.old(5000)).toEqual([]);
    expect(await store.remove(name, 5000)).toBe(false);
    expect(readdirSync(join(folder, "ab"))).toEqual([name]);
  });

  it("replace a file of the wrong size, and half-written files are deleted", async () => {
    let now = Date.now();
    const folder = file("torn");
    const store = diskBlobs(folder, { now: () => now });
    await store.put("s", name, bytes);
    writeFileSync(join(folder, "ab", name), "cut");
    writeFileSync(join(folder, "ab", `${name}.left`), "half");
    await store.put("s", name, bytes);
    expect(await store.read("s", name)).toEqual(bytes);
    now += 10_000;
    await store.old(5000);
    expect(readdirSync(join(folder, "ab"))).toEqual([name]);
  });

  it("report why they cannot be stored, and accept only hashes as names", async () => {
    const path = file("no-folder");
    writeFileSync(path, "a file");
    await expect(diskBlobs(path).put("s", name, bytes)).rejects.toMatchObject({
      name: "JournalFileError",
      code: "io_failed",
      message: expect.stringContaining(path) as unknown,
    });
    await expect(diskBlobs(file("names")).put("s", "../../etc/passwd", bytes)).rejects.toMatchObject({
      code: "io_failed",
    });
    rmSync(path);
  });
});
