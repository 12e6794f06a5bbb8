/**
 * A stream whose process is killed with SIGKILL in mid-word, again and again. The ledger is outside: a client that has what it was
 * shown, applies resets, and comes back with its cursor. In the end it has each recorded chunk once, in order, and so has the body.
 * `PAWL_STREAM_KILLS=200` is the long form.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type StreamCursor, type StreamFrame, cursorAfter } from "@pawl/runtime/driver";
import { afterAll, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "pawl-stream-kill-"));
afterAll(() => rmSync(folder, { recursive: true }));

const program = join(import.meta.dirname, "stream-process.ts");
const words = 120;
const kills = Number(process.env["PAWL_STREAM_KILLS"] ?? 6);
const seed = Number(process.env["PAWL_SEED"] ?? 7);

type Line =
  | { readonly who: "live" | "recorded"; readonly frame: StreamFrame }
  | { readonly who: "body"; readonly heard: readonly unknown[] };

/** What a client outside has, and how often it was told to drop something. */
class Client {
  has: unknown[] = [];
  cursor: StreamCursor | undefined;
  resets = 0;
  dropped = 0;

  take(frame: StreamFrame): void {
    this.cursor = cursorAfter(frame, this.cursor ?? { attempt: 1, at: 0 });
    if (frame.type === "reset") {
      this.resets += 1;
      this.dropped += Math.max(0, this.has.length - frame.from);
      this.has.length = Math.min(this.has.length, frame.from);
    }
    expect(frame.type).not.toBe("gap");
    if (frame.type !== "chunks") return;
    expect(frame.from).toBe(this.has.length);
    this.has.push(...frame.chunks);
  }
}

const live = new Client();
const recorded = new Client();
let heard: readonly unknown[] | undefined;

/** Lives until the live reader was told so many frames, or to its end. */
const livesFor = async (frames: number): Promise<NodeJS.Signals | null> => {
  const place = JSON.stringify({ cursor: live.cursor, recorded: recorded.has.length });
  const args = [program, join(folder, "journal.db"), `${words}`, place];
  const child = spawn(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: "" } });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  let left = frames;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text) as Line;
    if (line.who === "body") heard = line.heard;
    else (line.who === "live" ? live : recorded).take(line.frame);
    if (line.who === "live" && --left === 0) child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  if (child.exitCode !== null && child.exitCode !== 0) throw new Error(said);
  return child.signalCode;
};

it(`a client has each recorded chunk once and in order, over ${kills} kills (seed ${seed})`, async () => {
  let dice = seed;
  const below = (n: number): number => {
    dice = (Math.imul(dice, 1_103_515_245) + 12_345) >>> 0;
    return (dice >>> 8) % n;
  };
  for (let n = 0; n < kills; n++) expect(await livesFor(1 + below(40))).toBe("SIGKILL");
  expect(await livesFor(Infinity)).toBeNull();
  expect(live.has).toEqual(recorded.has);
  expect(heard).toEqual(recorded.has);
  expect(recorded.has.map((word) => Number(String(word).split(" ")[0]))).toEqual(
    Array.from({ length: words }, (_, n) => n),
  );
  expect([live.resets, recorded.resets]).toEqual([kills, 0]);
  expect(live.dropped).toBeGreaterThan(0);
}, 1_200_000);
