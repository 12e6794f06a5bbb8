/** Releases side by side: one that knows protocol 1 only refuses what a newer one has upgraded, and nothing is lost. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Journal, type Runtime, logText } from "@pawl/runtime";
import { openRuntime, signToken, sqliteJournal } from "@pawl/driver-node";
import { Client, moverOver } from "@pawl/driver-node/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Answer, Asked } from "./older/host.ts";
import { walks } from "./older/tool.ts";

const secret = Buffer.alloc(32, 9);
const token = signToken([secret], { by: "mover", scopes: [""], rights: ["move"], expires_at: 4_000_000_000_000 });
const scope = "session:s";
const call = [{ label: "c", tool: "walks", args: {} }];
const words =
  "scope session:s is of protocol 2, and this pawl knows protocols up to 1: install the release of pawl that brought " +
  "protocol 2, or a later one, and open it with that. Nothing was claimed or changed";

let folder = "";
const closings: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pawl-older-"));
});
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
  rmSync(folder, { recursive: true });
});

const at = (name: string): string => join(import.meta.dirname, "older", name);

/** A process with the core of an older release. */
class Older {
  readonly #child: ChildProcess;
  readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(file: string): Promise<Older> {
    const execArgv = ["--import", at("core.ts")];
    const child = fork(at("host.ts"), [file, secret.toString("hex")], {
      execArgv,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const [{ url }] = (await once(child, "message")) as [{ readonly url: string }];
    const older = new Older(child, url);
    closings.push(() => older.end());
    return older;
  }

  async asked(of: Asked): Promise<Answer> {
    const answered = once(this.#child, "message");
    this.#child.send(of);
    return ((await answered) as [Answer])[0];
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }
}

/** Opens today's runtime over a file. */
const newer = (file: string, upgrade: "auto" | "never" = "auto"): ReturnType<typeof openRuntime> => {
  const clients: Client[] = [];
  const mover = (url: string) => {
    const client = new Client({ url, token, backoff: { minMs: 20, maxMs: 200 } });
    clients.push(client);
    return moverOver(client);
  };
  const { runtime, close } = openRuntime({ file, tools: [walks], mover, upgrade });
  const closed = async (): Promise<void> => {
    for (const client of clients) client.close();
    await close();
  };
  closings.push(closed);
  return { runtime, close: closed };
};

const within = async <A>(file: string, read: (journal: Journal) => Promise<A>): Promise<A> => {
  const journal = sqliteJournal(file);
  return read(journal).finally(journal.close);
};

/** Begins a call that waits for a word. */
const begun = async ({ runtime }: { readonly runtime: Runtime }): Promise<void> => {
  const session = await runtime.session("s");
  void session.request("r", call).catch(() => undefined); // Whoever opens the session next has it.
  while (session.state.waits.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** Says the word, and returns how the call ended. */
const ended = async ({ runtime }: { readonly runtime: Runtime }): Promise<unknown> => {
  const session = await runtime.session("s");
  const replies = session.request("r", call);
  const key = session.state.waits.rows()[0]?.key ?? "";
  await session.report({ type: "wait.resolved", key, resolution: { status: "ok", payload: "go" } });
  return (await replies)[0]?.output.outcome.payload;
};

const whole = ["before", "go", "after"];

describe("a host whose core knows protocol 1 only", () => {
  it("refuses a session of protocol 2 that is to move in; it stays where it is, and goes on", async () => {
    const source = newer(join(folder, "newer.db"));
    await begun(source);
    const target = await Older.start(join(folder, "older.db"));
    await expect(source.runtime.move(scope, target.url)).rejects.toMatchObject({
      code: "newer_protocol",
      message: words,
    });
    expect(await ended(source)).toEqual(whole);
    await target.end();
    expect(await within(join(folder, "older.db"), (journal) => journal.scopes("", "", 10))).toEqual([]);
  });

  it("takes in a session that stays under protocol 1", async () => {
    const source = newer(join(folder, "newer.db"), "never");
    await begun(source);
    const target = await Older.start(join(folder, "older.db"));
    await source.runtime.move(scope, target.url);
    await target.end();
    const back = newer(join(folder, "older.db"));
    expect(await ended(back)).toEqual(whole);
    expect((await back.runtime.session("s")).state.scope.protocol).toBe(2);
  });

  it("refuses a session of its own journal that a newer host has upgraded, before it claims it", async () => {
    const file = join(folder, "shared.db");
    const first = newer(file);
    await begun(first);
    await first.close();
    const row = await within(file, (journal) => journal.scopes("", "", 10));
    const older = await Older.start(file);
    expect(await older.asked({ open: "s" })).toEqual({ code: "newer_protocol", message: words });
    await older.end();
    expect(await within(file, (journal) => journal.scopes("", "", 10))).toEqual(row);
    expect(await ended(newer(file))).toEqual(whole);
  });

  it("refuses an exported log of protocol 2", async () => {
    const first = newer(join(folder, "newer.db"));
    await begun(first);
    await first.close();
    const text = await within(join(folder, "newer.db"), (journal) => logText(journal, scope));
    const log = join(folder, "s.jsonl");
    writeFileSync(log, (text ?? []).join(""));
    const older = await Older.start(join(folder, "older.db"));
    const { message } = await older.asked({ load: log });
    expect(message).toContain("this core knows protocol 1, found 2");
  });
});
