/**
 * A journal whose file system becomes read-only while a runtime works, as a kernel makes it when its disk fails. The disk is
 * a file; only root of a Linux with loop devices can mount it, and elsewhere there is no such test.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { defineTool } from "@pawl/runtime";
import type { LogEntry } from "@pawl/runtime/driver";
import { afterAll, expect, it } from "vitest";
import { openRuntime } from "../src/index.ts";
import { testFolder } from "./sqlite-rig.ts";
import { until } from "./until.ts";

const { file, remove } = testFolder();
const ending: (() => unknown)[] = [remove];
afterAll(() => {
  for (const end of ending.toReversed()) end();
});

const echo = defineTool({ name: "echo", execute: (args) => args });
const wait = defineTool({ name: "wait", durable: true, execute: (_, ctx) => ctx.waitFor("never") });
const use = (tool: string) => [{ label: "c", tool, args: {} }];

const outcomeOf = (asked: Promise<unknown>): Promise<unknown> => asked.then(undefined, (thrown: unknown) => thrown);

interface Disk {
  readonly folder: string;
  readonly fail: () => void;
}

/** Mounts a disk of its own; undefined where that is not possible. */
const mounted = (): Disk | undefined => {
  const [image, folder] = [file("disk.img"), file("disk")];
  writeFileSync(image, "");
  truncateSync(image, 64 * 1024 * 1024);
  mkdirSync(folder);
  try {
    execFileSync("mkfs.ext4", ["-q", image], { stdio: "ignore" });
    execFileSync("mount", ["-o", "loop,errors=remount-ro", image, folder], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  ending.push(() => execFileSync("umount", ["-l", folder]));
  const device = String(execFileSync("findmnt", ["-no", "SOURCE", folder])).trim();
  const trigger = `/sys/fs/ext4/${basename(device)}/trigger_fs_error`;
  return existsSync(trigger) ? { folder, fail: () => writeFileSync(trigger, "a test") } : undefined;
};

const disk = process.geteuid?.() === 0 ? mounted() : undefined;

if (disk !== undefined)
  it("takes no more work, says why, and ends what waits with `scope_lost`, also of a session out of memory", async () => {
    const entries: LogEntry[] = [];
    const { runtime, close } = openRuntime({
      file: join(disk.folder, "journal.db"),
      tools: [echo, wait],
      lease: { ttlMs: 3000 },
      linger: { ms: 0 },
      patience: { suspendMs: 10 },
      log: (entry) => void entries.push(entry),
    });
    const session = await runtime.session("s");
    await session.request("before", use("echo"));
    const waiting = outcomeOf(session.request("waits", use("wait")));
    await until(() => session.state.calls.at("waits:c")?.phase === "suspended");
    disk.fail();
    expect(await waiting).toMatchObject({ code: "scope_lost" });
    for (const name of ["s", "new"]) {
      const asked = Promise.resolve(runtime.session(name)).then((one) => one.request("after", use("echo")));
      expect(await outcomeOf(asked)).toMatchObject({
        name: "JournalFileError",
        code: "read_only",
        message: expect.stringContaining("its file system is read-only"),
      });
    }
    await until(() => entries.some(({ thrown }) => (thrown as { readonly code?: string })?.code === "read_only"));
    await outcomeOf(close());
  }, 60_000);
