/** Files on disk in a real folder, with folders held by their handles and with folders compared by true path. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type FileError, type FileStore, MemoryFiles, contentHash, defaultRegistry } from "@pawl/tools";
import { DiskFiles } from "@pawl/tools/node";
import { replace } from "../src/node/disk/disk-file.ts";
import { Folder } from "../src/node/disk/folder.ts";
import { bytes, fileSuite, outcome, readText, text } from "./file-suite.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "pawl-disk-")));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const kind = (error: FileError): string => error.kind;

let count = 0;
let [root, outside] = ["", ""];
beforeEach(() => {
  const place = join(scratch, String((count += 1)));
  root = join(place, "root");
  outside = join(place, "outside");
  for (const folder of [place, root, outside]) mkdirSync(folder);
  writeFileSync(join(outside, "secret.txt"), "secret");
});

const stores: readonly (readonly [string, () => Promise<FileStore>])[] = [
  ["in memory", async () => new MemoryFiles()],
  ["on disk, by handles", () => DiskFiles.open(root, { isPinned: true })],
  ["on disk, by paths", () => DiskFiles.open(root, { isPinned: false })],
];

describe.each(stores)("files %s", (_, open) => fileSuite(open, () => outside));

describe.each([true, false])("on disk, folders held by handles: %s", (isPinned) => {
  const open = (options = {}): Promise<DiskFiles> => DiskFiles.open(root, { isPinned, ...options });

  it("no link is followed, anywhere in a path", async () => {
    const files = await open();
    mkdirSync(join(root, "d"));
    symlinkSync(outside, join(root, "out"));
    symlinkSync(join(outside, "secret.txt"), join(root, "d/secret"));
    symlinkSync("d", join(root, "near"));
    symlinkSync(join(outside, "new"), join(root, "dangling"));
    for (const path of ["/out/secret.txt", "/d/secret", "/near/secret", "/dangling", "/out"]) {
      expect([path, await outcome(files.read(path))]).toEqual([path, "path"]);
      expect([path, await outcome(files.stat(path))]).toEqual([path, "path"]);
      expect([path, await outcome(files.write(path, bytes("x"), text))]).toEqual([path, "path"]);
      expect([path, await outcome(files.delete(path, true))]).toEqual([path, "path"]);
      expect([path, await outcome(files.createDirectory(`${path}/n`))]).toEqual([path, "path"]);
    }
    expect(await outcome(files.list("/out"))).toBe("path");
    expect((await files.list("/")).map(({ name }) => name)).toEqual(["d"]);
    expect(await files.grep("secret")).toEqual([]);
    await files.delete("/", true);
    expect([readdirSync(root), readdirSync(outside)]).toEqual([[], ["secret.txt"]]);
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
  });

  it("entries that are neither file nor folder are not touched, and never block", async () => {
    const files = await open();
    execFileSync("mkfifo", [join(root, "pipe")]);
    expect([await outcome(files.read("/pipe")), await outcome(files.write("/pipe", bytes("x"), text))]).toEqual([
      "path",
      "path",
    ]);
    expect([await files.list("/"), await files.grep("x")]).toEqual([[], []]);
  });

  it("names of devices, reserved names, and names that a disk may change are refused", async () => {
    const files = await open();
    const names = [
      "CON",
      "nul",
      "aux.txt",
      "com1",
      "LPT9.log",
      "com¹",
      "con .txt",
      "a.",
      "b ",
      "...",
      ".pawl-write-x",
      "x".repeat(256),
    ];
    for (const name of names) {
      expect([name, await outcome(files.write(`/${name}`, bytes("x"), text))]).toEqual([name, "path"]);
      expect([name, await outcome(files.write(`/${name}/x`, bytes("x"), text))]).toEqual([name, "path"]);
    }
    expect(await outcome(files.read("/a".repeat(129)))).toBe("path");
    for (const name of ["console", "com", "com10", "nul-", ".hidden", "a..b"])
      await files.write(`/${name}`, bytes(""), text);
    expect(readdirSync(root)).toHaveLength(6);
  });

  it("a second name that differs only in case or normal form is refused", async () => {
    const files = await open();
    await files.write("/Read.me", bytes("1"), text);
    await files.createDirectory("/straße");
    writeFileSync(join(root, "cafe\u0301"), "NFD");
    expect(await outcome(files.write("/read.ME", bytes("2"), text))).toBe("path");
    expect(await outcome(files.write("/STRASSE/x", bytes("2"), text))).toBe("path");
    expect(await outcome(files.write("/caf\u00e9", bytes("2"), text))).toBe("path");
    expect((await files.list("/")).map(({ name }) => name)).toEqual(["Read.me", "straße"]);
    expect(await files.write("/Read.me", bytes("2"), text)).toBe(true);
  });

  it("the limits of writing, reading, listing and searching hold", async () => {
    const files = await open({ maxFileBytes: 10, maxEntries: 2, maxSearchBytes: 15 });
    expect(await outcome(files.write("/a", new Uint8Array(11), text))).toBe("size");
    expect(existsSync(join(root, "a"))).toBe(false);
    writeFileSync(join(root, "big"), "x".repeat(11));
    expect(await outcome(files.read("/big"))).toBe("size");
    for (const name of ["b", "c"]) await files.write(`/${name}`, bytes("0123456789"), text);
    expect([await outcome(files.list("/")), await outcome(files.grep("x"))]).toEqual(["size", "size"]);
    expect(await files.grep("9", "b")).toHaveLength(1);
  });

  it("a search ends in time, and others are served meanwhile", async () => {
    const lines = `${"b".repeat(4000)}\n`.repeat(2000);
    const files = await open({ searchMs: 40 });
    await files.write("/a", bytes(lines), text);
    let turns = 0;
    const counting = setInterval(() => (turns += 1), 1);
    expect(await outcome(files.grep("(?:b.*){200}$"))).toBe("pattern");
    clearInterval(counting);
    expect(turns).toBeGreaterThan(2);
  });

  it("a write is atomic, keeps the file's mode, and removes the remains of dead processes", async () => {
    const files = await open();
    await files.write("/run.sh", bytes("1"), text);
    chmodSync(join(root, "run.sh"), 0o750);
    const { ino } = statSync(join(root, "run.sh"));
    const [old, fresh] = [`.pawl-write-${"0".repeat(32)}`, `.pawl-write-${"1".repeat(32)}`];
    for (const name of [old, fresh]) writeFileSync(join(root, name), "half");
    utimesSync(join(root, old), 0, 0);
    await files.write("/run.sh", bytes("2"), text);
    const now = statSync(join(root, "run.sh"));
    expect([now.mode & 0o777, now.ino === ino]).toEqual([0o750, false]);
    expect(readdirSync(root).toSorted()).toEqual([fresh, "run.sh"]);
    expect((await files.list("/")).map(({ name }) => name)).toEqual(["run.sh"]);
  });

  it("a read-only file is not changed", async () => {
    const files = await open();
    await files.write("/fixed", bytes("1"), text);
    chmodSync(join(root, "fixed"), 0o444);
    expect(await files.stat("/fixed")).toMatchObject({ isReadonly: true });
    expect(await outcome(files.write("/fixed", bytes("2"), text))).toBe("readonly");
    expect(await outcome(files.delete("/fixed", false))).toBe("readonly");
    expect(await readText(files, "/fixed")).toBe("1");
  });

  it("readers see the old bytes or the new ones during a write, never a part", async () => {
    const files = await open();
    const versions = ["a", "b"].map((letter) => bytes(letter.repeat(200_000)));
    await files.write("/f", versions[0] as Uint8Array, text);
    const whole = new Set(versions.map(contentHash));
    const writes = Array.from({ length: 20 }, (_, i) => files.write("/f", versions[i % 2] as Uint8Array, text));
    for (let i = 0; i < 20; i++) whole.add(contentHash((await files.read("/f"))?.bytes ?? new Uint8Array()));
    await Promise.all(writes);
    expect(whole.size).toBe(2);
  });
});

describe("a folder that another process keeps swapping for a link", () => {
  it.runIf(process.platform === "linux")("never leads out", async () => {
    const files = await DiskFiles.open(root);
    const [folder, link, spare] = ["d", "link", "spare"].map((name) => join(root, name)) as [string, string, string];
    mkdirSync(folder);
    writeFileSync(join(folder, "secret.txt"), "inside");
    for (const place of [folder, outside]) writeFileSync(join(place, "same.txt"), "same");
    const { ino } = statSync(join(outside, "same.txt"));
    symlinkSync(outside, link);
    const over = new AbortController();
    const swapping = (async () => {
      for (; !over.signal.aborted; await new Promise(setImmediate)) {
        renameSync(folder, spare);
        renameSync(link, folder);
        await new Promise(setImmediate);
        renameSync(folder, link);
        renameSync(spare, folder);
      }
    })();
    const same = { ...text, expected: bytes("same") };
    const seen = new Set<string | undefined>();
    const written = new Set<boolean | string>();
    for (let i = 0; i < 200 || !seen.has("inside") || !written.has(true); i++) {
      seen.add(await readText(files, "/d/secret.txt").catch(kind));
      written.add(await files.write("/d/same.txt", bytes("same"), same).catch(kind));
    }
    over.abort();
    await swapping;
    expect([...seen].filter((one) => one !== "path" && one !== undefined)).toEqual(["inside"]);
    expect([written.has(true), statSync(join(outside, "same.txt")).ino === ino]).toEqual([true, true]);
    expect(readdirSync(outside).toSorted()).toEqual(["same.txt", "secret.txt"]);
  });
});

describe("a folder that is removed while a file in it is written", () => {
  it.runIf(process.platform === "linux")("is told as such, to the model too", async () => {
    const folder = await Folder.root(root, true);
    mkdirSync(join(root, "d"));
    const inside = await folder.folder("d");
    rmdirSync(join(root, "d"));
    const written = inside && replace(inside, "f.txt", bytes("text"), undefined);
    await expect(written).rejects.toMatchObject({ kind: "not_found", message: expect.stringContaining("was removed") });
    await inside?.close();
    await folder.close();
  });
});

describe("a root", () => {
  it("must be a folder, may be reached through a link, and must not become one", async () => {
    await expect(DiskFiles.open(join(root, "none"))).rejects.toThrow("ENOENT");
    await expect(DiskFiles.open(join(outside, "secret.txt"))).rejects.toThrow("ENOTDIR");
    symlinkSync(root, join(outside, "way"));
    const files = await DiskFiles.open(join(outside, "way"));
    await files.write("/a", bytes("1"), text);
    expect(lstatSync(join(root, "a")).isFile()).toBe(true);
    renameSync(root, `${root}-moved`);
    symlinkSync(outside, root);
    await expect(files.read("/secret.txt")).rejects.toThrow("ENOTDIR");
  });

  it("serves the file tools: an edit by hash, and an image", async () => {
    const context = { session_id: "s", files: await DiskFiles.open(root) };
    const registry = defaultRegistry();
    const call = async (name: string, args: object) => {
      const result = await registry.execute({ id: "c", name, arguments: { ...args } }, context);
      return "right" in result ? result.right.json : undefined;
    };
    const written = await call("write_file", { path: "a.txt", content: "one\r\ntwo\r\n" });
    const { content_hash } = (written?.["result"] ?? {}) as { content_hash: string };
    const edit = { path: "/a.txt", expected_hash: content_hash, edits: [{ old_text: "two", new_text: "2" }] };
    expect(await call("edit_file", edit)).toMatchObject({ error: null, result: { applied_edits: 1 } });
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\r\n2\r\n");
    expect(await call("edit_file", edit)).toMatchObject({
      error: expect.stringContaining("changed since the last read"),
    });
    const png = { path: "/i.png", content: "iVBORw0KGgo=", encoding: "base64" };
    await call("write_file", png);
    expect(await call("read_file", { path: "/i.png" })).toMatchObject({ images: [{ media_type: "image/png" }] });
    symlinkSync(join(outside, "secret.txt"), join(root, "s"));
    expect(await call("read_file", { path: "/s" })).toMatchObject({ error: expect.stringContaining("is a link") });
  });
});
