/** A session moves from a host to a client and back; either is killed with SIGKILL before and after each record. */
import { type ChildProcess, fork } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JournalLine, foldLines } from "@pawl/runtime/driver";
import { afterAll, describe, expect, it } from "vitest";
import { Client } from "@pawl/wire";
import { signToken, sqliteJournal } from "../../src/index.ts";
import { bundled } from "../../../../test/runtime/bundled.ts";
import { testFolder } from "../sqlite-rig.ts";
import { type Point, type Said, type Told, hostSecret, records, scope } from "./order.ts";

const program = await bundled(join(import.meta.dirname, "process.ts"));
const folder = testFolder();
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  folder.remove();
});

class Life {
  readonly #child: ChildProcess;
  readonly #loaded: Promise<unknown>;

  constructor() {
    const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "pawl-kills-cache") };
    this.#child = fork(program, { env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    children.add(this.#child);
    this.#loaded = this.hears("loaded");
  }

  hears<T extends Said["type"]>(type: T): Promise<Extract<Said, { readonly type: T }>> {
    return new Promise((resolve) => {
      const hear = (said: Said): void => {
        if (said.type !== type) return;
        this.#child.off("message", hear);
        resolve(said as Extract<Said, { readonly type: T }>);
      };
      this.#child.on("message", hear);
    });
  }

  async begin(told: Told): Promise<string> {
    await this.#loaded;
    const up = this.hears("up");
    this.tell(told);
    return (await up).address;
  }

  tell(told: Told): void {
    this.#child.send(told);
  }

  kill(): Promise<unknown> {
    children.delete(this.#child);
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    return ended;
  }
}

type Side = "source" | "target";
type Kind = "host" | "client";

interface Run {
  readonly source: Kind;
  readonly dies: Side;
  readonly point: Point;
}

/** Both ends of a move, each over its own file. */
class Pair {
  readonly #path: string;
  readonly lives: { readonly [K in Kind]: Life } = { host: new Life(), client: new Life() };
  url = "";
  address = "";

  constructor(path: string) {
    this.#path = path;
  }

  file(kind: Kind): string {
    return `${this.#path}.${kind}`;
  }

  async start(kind: Kind, life: Life, point?: Point): Promise<void> {
    Object.assign(this.lives, { [kind]: life });
    const given = { file: this.file(kind), ...(point === undefined ? {} : { point }) };
    const port = this.url === "" ? 0 : Number(new URL(this.url).port);
    if (kind === "host") this.url = await life.begin({ type: "host", port, ...given });
    else this.address = await life.begin({ type: "client", url: this.url, ...given });
  }

  async lines(kind: Kind): Promise<readonly JournalLine[]> {
    const journal = sqliteJournal(this.file(kind));
    const lines = await journal.read(scope, 1);
    await journal.close();
    return lines;
  }
}

const rights = ["call", "move", "observe"] as const;
const clientTo = (url: string): Client => {
  const token = signToken([hostSecret], { by: "ann", scopes: [""], rights, expires_at: 4_000_000_000_000 });
  return new Client({ url, token, backoff: { minMs: 20, maxMs: 200 } });
};

/** Repeats the order until the move is reported as done. */
const moved = async (pair: Pair, source: Kind, ann: Client): Promise<void> => {
  for (;;) {
    if (source === "host") {
      const error = await ann.move(scope, pair.address).then(
        () => undefined,
        (thrown: unknown) => thrown as { readonly code: string },
      );
      if (error === undefined) return;
      expect(error.code).toBe("receiver_away");
    } else {
      const said = pair.lives.client.hears("moved");
      pair.lives.client.tell({ type: "move", to: pair.url });
      if ((await said).error === undefined) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const walk = [{ label: "c", tool: "walk", args: {} }];
const other = { host: "client", client: "host" } as const;

const runOnce = async ({ source, dies, point }: Run, name: string): Promise<Pair> => {
  const target = other[source];
  const pair = new Pair(folder.file(name));
  const waits = point.record === "scope.received" ? target : source;
  await pair.start("host", pair.lives.host, waits === "host" ? point : undefined);
  await pair.start("client", pair.lives.client, waits === "client" ? point : undefined);
  const ann = clientTo(pair.url);
  if (source === "host")
    ann
      .session("s")
      .request("r", walk)
      .catch(() => undefined); // The session moves away.
  if (source === "host") await ann.session("s").open();
  const victim = dies === "source" ? source : target;
  const spare = new Life();
  const atPoint = pair.lives[waits].hears("at_point");
  const first = moved(pair, source, ann).catch(() => undefined); // May have died with the process that was asked.
  await atPoint;
  await pair.lives[victim].kill();
  if (victim !== waits) pair.lives[waits].tell({ type: "go" });
  await pair.start(victim, spare);
  if (source === "host" || victim === "host") await first;
  else await moved(pair, source, ann);
  if (target === "host") await ann.session("s").request("r", walk);
  ann.close();
  return pair;
};

describe.concurrent("a death by SIGKILL in a move", () => {
  const runs = (["host", "client"] as const).flatMap((source) =>
    records.flatMap((record) =>
      (["before", "after"] as const).flatMap((when) =>
        (["source", "target"] as const).map((dies): Run => ({ source, dies, point: { record, when } })),
      ),
    ),
  );
  for (const [i, run] of runs.entries()) {
    const { source, dies, point } = run;
    it(`of the ${dies}, ${point.when} ${point.record}, from ${source} to ${other[source]}, leaves one copy`, async () => {
      const pair = await runOnce(run, String(i));
      await Promise.all([pair.lives.host.kill(), pair.lives.client.kill()]);
      const [left, arrived] = [await pair.lines(source), await pair.lines(other[source])];
      expect(foldLines(scope, left).scope.status.type).toBe("moved");
      expect(foldLines(scope, arrived).scope.status.type).toBe("open");
      expect(arrived.slice(0, left.length - 1)).toEqual(left.slice(0, -1));
    }, 60_000);
  }
});
