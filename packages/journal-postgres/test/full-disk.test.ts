/** A database whose disk is full: appends are refused as full, nothing acknowledged is lost, and all goes on when there is room. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresJournal } from "../src/index.ts";
import { hasServer, type TestServer, testServer } from "./server.ts";

/** Mounts a small disk; returns false where this user may not. */
const smallDisk = (folder: string): boolean => {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], { stdio: "ignore" });
    execFileSync("chown", ["postgres", folder]);
    return true;
  } catch {
    return false; // Only root mounts.
  }
};

/** Makes a line that does not compress. */
const noise = (seq: number): string =>
  `${JSON.stringify({ seq, noise: Array.from({ length: 2000 }, () => Math.random().toString(36)).join("") })}\n`;

const folder = mkdtempSync(join(tmpdir(), "pawl-full-"));
const isMounted = hasServer && process.getuid?.() === 0 && smallDisk(folder);

afterAll(() => {
  if (isMounted) execFileSync("umount", ["-l", folder]);
  rmSync(folder, { recursive: true, force: true });
});

/** Makes appends fail, and lets them through again. */
interface Disk {
  readonly fill: () => Promise<void>;
  readonly free: () => Promise<void>;
}

/** A disk that is full in truth: tables lie on it from now on, and a ballast leaves them little room. */
const realDisk = async (server: TestServer): Promise<Disk> => {
  execFileSync("install", ["-d", "-o", "postgres", join(folder, "space")]);
  await server.sql(`CREATE TABLESPACE small LOCATION '${join(folder, "space")}'`);
  await server.sql("ALTER ROLE pawl SET default_tablespace = small");
  writeFileSync(join(folder, "ballast"), Buffer.alloc(6 * 1024 * 1024));
  return { fill: async () => undefined, free: async () => rmSync(join(folder, "ballast")) };
};

/** Where no disk can be mounted, the server says of each append what it says of a full one. */
const saidToBeFull = (server: TestServer): Disk => ({
  fill: async () => {
    await server.sql(`CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`);
    await server.sql('CREATE TRIGGER no_room BEFORE INSERT ON "full".append FOR EACH ROW EXECUTE FUNCTION no_room()');
  },
  free: async () => void (await server.sql('DROP TRIGGER no_room ON "full".append')),
});

describe.runIf(hasServer)("a database on a full disk", () => {
  let server: TestServer;
  beforeAll(async () => void (server = await testServer()));
  afterAll(async () => await server.remove());

  it("refuses appends as full, keeps what it acknowledged, and goes on when there is room", async () => {
    const disk = isMounted ? await realDisk(server) : saidToBeFull(server);
    const journal = postgresJournal({ url: server.url, schema: "full", patienceMs: 500 });
    await journal.join("a", { ttlMs: 60_000, protocol: 2 });
    await journal.claim("session:s", "a", 2);
    const appended: string[] = [];
    const append = async (): Promise<string> => {
      const seq = appended.length + 1;
      const line = noise(seq);
      const [result] = await journal.appendAll([
        {
          scope: "session:s",
          epoch: 1,
          expectedSeq: seq,
          appendId: `1:${seq}`,
          lines: [{ seq, line }],
          finished: [],
          wakeAt: 0,
          protocol: 2,
          messages: [],
          received: [],
        },
      ]);
      if (result?.type === "ok") appended.push(line);
      return result?.type ?? "nothing";
    };
    let said = "ok";
    for (let n = 0; n < 2000 && said === "ok"; n++) {
      if (n === 20) await disk.fill();
      said = await append();
    }
    expect(said).toBe("full");
    const acknowledged = appended.length;
    expect(acknowledged).toBeGreaterThan(10);
    expect(await append()).toBe("full");
    expect((await journal.read("session:s", 1)).map(({ line }) => line)).toEqual(appended);
    await disk.free();
    expect(await append()).toBe("ok");
    expect((await journal.read("session:s", 1)).map(({ line }) => line)).toEqual(appended);
    expect(await journal.verify("session:s")).toMatchObject({ type: "whole", seq: acknowledged + 1 });
    expect(await journal.renew("a")).toBe(true);
    await journal.close();
  }, 60_000);
});
