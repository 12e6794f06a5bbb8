/** One end of a move in a process of its own. It reports its point and waits there. */
import { flushCompileCache } from "node:module";
import { type Journal, Runtime, defineTool } from "@pawl/runtime";
import type { Mover } from "@pawl/runtime/driver";
import { Client, moverOver } from "@pawl/wire";
import { Receivers, nodePlatform, openHost, signToken, sqliteJournal } from "../../src/index.ts";
import { type Point, type Said, type Told, hostSecret, scope } from "./order.ts";

const say = (said: Said): void => void process.send?.(said);
const told = async <T extends Told["type"]>(type: T): Promise<Extract<Told, { readonly type: T }>> =>
  new Promise((resolve) => {
    const hear = (one: Told): void => {
      if (one.type !== type) return;
      process.off("message", hear);
      resolve(one as Extract<Told, { readonly type: T }>);
    };
    process.on("message", hear);
  });

const waitingJournal = (journal: Journal, point: Point | undefined): Journal => {
  let isPast = false;
  const { moves } = journal;
  if (moves === undefined) throw new Error("scopes of this journal cannot move");
  const within = async <A>(lines: readonly { readonly line: string }[], work: () => Promise<A>): Promise<A> => {
    const isPoint = !isPast && lines.some(({ line }) => line.includes(`"type":"${point?.record}"`));
    const wait = async (when: Point["when"]): Promise<void> => {
      if (!isPoint || point?.when !== when) return;
      isPast = true;
      const go = told("go");
      say({ type: "at_point" });
      await go;
    };
    await wait("before");
    const answer = await work();
    await wait("after");
    return answer;
  };
  return {
    ...journal,
    appendAll: (appends) =>
      within(
        appends.flatMap(({ lines }) => lines),
        () => journal.appendAll(appends),
      ),
    moves: { ...moves, adopt: (adoption) => within(adoption.lines.slice(-1), () => moves.adopt(adoption)) },
  };
};

const runtimeOver = (file: string, point: Point | undefined, mover: (to: string) => Mover): Runtime =>
  new Runtime({
    journal: waitingJournal(sqliteJournal(file, { busyMs: 20_000 }), point),
    platform: nodePlatform,
    tools: [
      defineTool({
        name: "walk",
        durable: true,
        execute: async (_, ctx) => {
          for (const step of ["one", "two"]) {
            await ctx.run(step, () => step);
            await ctx.sleep(step === "one" ? 400 : 0);
          }
          return "walked";
        },
      }),
    ],
    instance: `${process.pid}`,
    roots: { newest: { kid: "k", secret: new Uint8Array(32).fill(7) } },
    mover,
  });

const beHost = async ({ file, port, point }: Extract<Told, { readonly type: "host" }>): Promise<void> => {
  const receivers = new Receivers();
  const runtime = runtimeOver(file, point, receivers.mover());
  const host = await openHost({ runtime, receivers, port, secrets: [hostSecret] });
  say({ type: "up", address: host.url });
  await runtime.recover();
};

const beClient = async ({ file, url, point }: Extract<Told, { readonly type: "client" }>): Promise<void> => {
  const claims = { by: "page", scopes: ["session:"], rights: ["move"], expires_at: 4_000_000_000_000 } as const;
  const client = new Client({ url, token: signToken([hostSecret], claims), backoff: { minMs: 20, maxMs: 200 } });
  const runtime = runtimeOver(file, point, () => moverOver(client));
  process.on("message", (one: Told) => void (one.type === "move" && leave(runtime, one.to)));
  say({ type: "up", address: await client.receive("store-1", () => runtime.moves.arrivals) });
  await runtime.recover();
};

/** Moves the session away, with a call that continues at the other end. */
const leave = async (runtime: Runtime, to: string): Promise<void> => {
  await runtime.session("s").then(
    (session) => void session.request("r", [{ label: "c", tool: "walk", args: {} }]).catch(() => undefined), // The session moves away.
    () => undefined, // The move is under way already.
  );
  const error = await runtime.move(scope, to).then(
    () => undefined,
    (thrown: unknown) => String(thrown),
  );
  say({ type: "moved", ...(error === undefined ? {} : { error }) });
};

process.on("disconnect", () => process.exit(1)); // Nobody is left to kill it.
void told("host").then(beHost);
void told("client").then(beClient);
flushCompileCache();
say({ type: "loaded" });
