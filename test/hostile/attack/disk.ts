/** What happens to the files of a host, and to its room: damage, deletion, a full disk, no descriptors. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "@pawl/driver-node/client";
import type { Siege } from "../siege.ts";
import { Socket } from "../socket.ts";

const parts = ["journal.db", "journal.db-wal", "journal.db-shm"];

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && "code" in thrown ? String(thrown.code) : `${String(thrown)}`;

/** Makes sessions with one answered request each, and returns what they were answered. */
const answered = async (client: Client, count: number): Promise<ReadonlyMap<string, string>> => {
  const told = new Map<string, string>();
  for (let n = 0; n < count; n += 1) {
    const args = { text: `${n} `.repeat(1 + (n % 7) * 900) };
    const [reply] = await client.session(`d${n}`).request("r", [{ label: "c", tool: "echo", args }]);
    told.set(`d${n}`, JSON.stringify(reply?.output));
  }
  return told;
};

type Damage = (siege: Siege, file: string) => void;

const changed = (siege: Siege, file: string, change: (bytes: Uint8Array, at: number) => void): void => {
  const bytes = readFileSync(file);
  if (bytes.length === 0) return;
  change(bytes, siege.random.below(bytes.length));
  writeFileSync(file, bytes);
};

const damages: readonly Damage[] = [
  (siege, file) => changed(siege, file, (bytes, at) => (bytes[at] = siege.random.below(256))),
  (siege, file) => changed(siege, file, (bytes, at) => bytes.fill(0, at, Math.min(at + 4096, bytes.length))),
  (siege, file) =>
    changed(siege, file, (bytes, at) => bytes.copyWithin(at, siege.random.below(bytes.length), at + 512)),
  (siege, file) => {
    for (let n = 0; n < 20; n += 1) changed(siege, file, (bytes, at) => (bytes[at] = siege.random.below(256)));
  },
  (siege, file) => truncateSync(file, siege.random.below(statSync(file).size + 1)),
  (_, file) => rmSync(file),
];

/** Returns what a host on damaged files answers: the same as before, an error, or nothing at all. Never anything else. */
const compare = async (siege: Siege, told: ReadonlyMap<string, string>): Promise<void> => {
  const client = siege.client();
  for (const [session, expected] of told) {
    const asked = client
      .session(session)
      .replies("r")
      .then(([reply]) => JSON.stringify(reply?.output), codeOf);
    const found = await Promise.race([asked, pause(5000, "no answer")]);
    const isOther = found !== undefined && found.startsWith("{") && found !== expected;
    siege.try(isOther ? `${session} on damaged files was answered ${found.slice(0, 200)}` : undefined);
  }
  client.close();
};

/** Damages the files of a host that was killed, and starts another over them. */
export const damageFiles = async (siege: Siege): Promise<void> => {
  await siege.start();
  const client = siege.client();
  const told = await answered(client, 6);
  client.close();
  await siege.kill();
  const kept = join(siege.folder, "kept");
  mkdirSync(kept);
  const own = parts.filter((part) => existsSync(join(siege.folder, part)));
  for (const part of own) copyFileSync(join(siege.folder, part), join(kept, part));
  for (let n = 0; n < 4; n += 1) {
    for (const part of parts) rmSync(join(siege.folder, part), { force: true });
    for (const part of own) copyFileSync(join(kept, part), join(siege.folder, part));
    const file = own[siege.random.below(own.length)] ?? "journal.db";
    damages[siege.random.below(damages.length)]?.(siege, join(siege.folder, file));
    const isUp = await siege.start().then(
      () => true,
      () => false,
    );
    siege.try();
    if (isUp) await compare(siege, told);
    await siege.kill();
  }
};

/** Fills a journal up, and looks whether what was answered is still there: at once, and once there is room again. */
export const fillDisk = async (siege: Siege): Promise<void> => {
  await siege.start();
  await siege.kill();
  const maxBytes = statSync(join(siege.folder, "journal.db")).size + 200_000 + siege.random.below(400_000);
  await siege.start({ maxBytes });
  const client = siege.client();
  const told: number[] = [];
  let refused = 0;
  for (let n = 0; n < 60 && refused < 10; n += 1) {
    const args = { text: "x".repeat(siege.random.below(40_000)) };
    const asked = client.session(`f${n}`).request("r", [{ label: "c", tool: "echo", args }]);
    const outcome = await Promise.race([
      asked.then(([reply]) => reply?.output.outcome.status, codeOf),
      pause(2000, "waits"),
    ]);
    if (outcome === "success") told.push(n);
    else refused += 1;
    siege.try();
  }
  if (refused === 0) siege.say("a journal without room refused nothing");
  client.close();
  await siege.kill();
  await siege.start();
  const again = siege.client();
  for (const n of told) {
    const [reply] = await again.session(`f${n}`).replies("r");
    if (reply?.output.outcome.status !== "success") siege.say(`the answer to f${n} is lost`);
  }
};

/** Leaves a host no descriptors for the connections that come, and then some again. */
export const starveDescriptors = async (siege: Siege): Promise<void> => {
  await siege.start();
  const { pid } = siege;
  const client = siege.client();
  await client.session("d").request("before", [{ label: "c", tool: "echo", args: 1 }]);
  execFileSync("prlimit", ["--pid", String(pid), "--nofile=48:4096"]);
  for (let wave = 0; wave < 3; wave += 1) {
    const opening = Array.from({ length: 100 }, () => Promise.race([Socket.open(siege.url), pause(3000, undefined)]));
    const sockets = await Promise.all(opening);
    for (const socket of sockets) {
      siege.try();
      socket?.reset();
    }
  }
  execFileSync("prlimit", ["--pid", String(pid), "--nofile=1024:4096"]);
  await pause(500);
  const fresh = siege.client();
  const request = `after${siege.random.below(1e9)}`;
  const asked = fresh.session("d").request(request, [{ label: "c", tool: "echo", args: 2 }]);
  const served = asked.then(([reply]) => reply?.output.outcome.payload, codeOf);
  const said = await Promise.race([served, pause(20_000, "nothing")]);
  if (said !== 2) siege.say(`a host that had no descriptors serves when it has some, found ${String(said)}`);
};

const takings: readonly ((folder: string) => void)[] = [
  (folder) => rmSync(join(folder, "journal.db")),
  (folder) => {
    for (const part of parts) rmSync(join(folder, part), { force: true });
  },
  (folder) => renameSync(join(folder, "journal.db"), join(folder, "moved.db")),
  (folder) => {
    renameSync(join(folder, "journal.db"), join(folder, "moved.db"));
    writeFileSync(join(folder, "journal.db"), "another file");
  },
];

const leaseMs = 900;

/** Takes the journal away from under a host: once its lease was to be renewed it answers nothing as done any more. */
export const deleteJournal = async (siege: Siege): Promise<void> => {
  await siege.start({ leaseMs });
  const client = siege.client();
  const call = (n: number) =>
    client
      .session("gone")
      .request(`r${n}`, [{ label: "c", tool: "echo", args: n }])
      .then(
        () => true,
        () => false,
      );
  await call(0);
  takings[siege.random.below(takings.length)]?.(siege.folder);
  await pause(leaseMs);
  for (let n = 1; n <= 10; n += 1) {
    const isDone = await Promise.race([call(n), pause(300, false)]);
    siege.try(isDone ? `call ${n} was answered after the journal was gone` : undefined);
  }
};
