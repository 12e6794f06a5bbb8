/** Proofs over releases of code that follow each other on one journal: what parks, what a roll-back heals, and patches. */
import { type Session, type ToolContext, type ToolDefinition, Runtime, defineTool, memoryJournal } from "@pawl/runtime";
import type { Platform } from "@pawl/runtime/driver";
import { canonicalJson, hashText } from "@pawl/tool-value";

const platform: Platform = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  later: (ms, then) => {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
  nextTurn: (then) => void setImmediate(then),
  hashText,
};

export const quiet = (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 40));

type Body = (ctx: ToolContext, count: (effect: string) => number) => Promise<unknown>;

/** One session on one journal, and what its steps did. */
export class Releases {
  readonly #journal = memoryJournal();
  readonly counts: { [effect: string]: number } = {};
  readonly ends: unknown[] = [];
  #n = 0;

  /** Runs a release of the code until nothing moves, and ends it. */
  async run(version: string, body: Body, act?: (session: Session) => Promise<unknown>): Promise<void> {
    const count = (effect: string): number => (this.counts[effect] = (this.counts[effect] ?? 0) + 1);
    const tool = defineTool({ name: "work", durable: true, execute: (_, ctx) => body(ctx, count) });
    await this.runTools(version, [tool], act);
  }

  /** Runs a release that has these tools. */
  async runTools(
    version: string,
    tools: readonly ToolDefinition[],
    act?: (session: Session) => Promise<unknown>,
  ): Promise<void> {
    const runtime = new Runtime({
      journal: this.#journal,
      platform,
      tools,
      instance: `release-${(this.#n += 1)}`,
      roots: { newest: { kid: "k", secret: new Uint8Array(32) } },
      codeVersion: version,
    });
    const session = await runtime.session("s");
    const called = session.request("r", [{ label: "c", tool: "work", args: {} }], { keep: true });
    void called.then(([reply]) => this.ends.push(reply?.output.outcome.payload)).catch(() => undefined); // Ends with its runtime.
    await quiet();
    await act?.(session);
    await quiet();
    await runtime.close();
  }

  async count(type: string): Promise<number> {
    const lines = await this.#journal.read("session:s", 1);
    return lines.filter(({ line }) => line.includes(`"event":{"type":"${type}"`)).length;
  }
}

const booked =
  (nights: number): Body =>
  async (ctx, count) => [
    await ctx.run("pay", () => count("pay"), { recovery: "once" }),
    await ctx.run("book", () => count("book"), { input: { nights } }),
    await ctx.waitFor("go"),
  ];

const go = async (session: Session): Promise<void> => {
  const [wait] = session.state.waits.rows();
  if (wait === undefined) throw new Error("nothing waits");
  await session.report({ type: "wait.resolved", key: wait.key, resolution: { status: "ok", payload: "went" } });
};

export const differing = (found: unknown, wanted: unknown): string | undefined => {
  const [is, was] = [canonicalJson(found as never), canonicalJson(wanted as never)];
  return is === was ? undefined : `expected ${was}, found ${is}`;
};

/** Two bad releases between good ones: each is tried once, and the roll-back ends the call as if nothing had been. */
const rolledBack = async (): Promise<string | undefined> => {
  const world = new Releases();
  for (const [version, nights] of [
    ["1", 1],
    ["2", 2],
    ["3", 3],
    ["2", 2],
    ["1", 1],
    ["2", 2],
  ] as const)
    await world.run(version, booked(nights));
  await world.run("1", booked(1), go);
  const found = [world.ends, world.counts, await world.count("call.diverged")];
  return differing(found, [[[1, 1, "went"]], { pay: 1, book: 1 }, 2]);
};

/** A person releases it: from the top, and nothing that may happen once happens twice. */
const released = async (): Promise<string | undefined> => {
  const world = new Releases();
  await world.run("1", booked(1));
  await world.run("2", booked(2), async (session) => {
    await session.report({ type: "outcome.resolved", call: "r:c", resolved: { type: "release" }, by: "p" });
    await quiet();
    await go(session);
  });
  return differing([world.ends, world.counts], [[[1, 2, "went"]], { pay: 1, book: 2 }]);
};

const patched: Body = async (ctx) => {
  const a = await ctx.run("a", () => "a");
  const isNew = ctx.patched("new");
  const more = isNew ? [await ctx.run("more", () => "more")] : [];
  return [a, ...more, await ctx.waitFor("go")];
};
const unpatched: Body = async (ctx) => [await ctx.run("a", () => "a"), await ctx.waitFor("go")];

/** Asks at its very beginning, where only the record can tell. */
const asksEarly: Body = async (ctx) => {
  const isNew = ctx.patched("new");
  const a = await ctx.run("a", () => "a");
  const more = isNew ? [await ctx.run("more", () => "more")] : [];
  return [a, ...more, await ctx.waitFor("go")];
};

/** Old calls stay on the old branch, new ones on the new one, whichever release goes on with them. */
const besideItself = async (): Promise<string | undefined> => {
  const [old, young] = [new Releases(), new Releases()];
  await old.run("1", unpatched);
  await old.run("2", patched);
  await old.run("2", patched, go);
  await young.run("2", patched);
  await young.run("3", asksEarly, go);
  const found = [old.ends, young.ends, await old.count("call.diverged"), await young.count("call.diverged")];
  return differing(found, [[["a", "went"]], [["a", "more", "went"]], 0, 0]);
};

export const proofs = { rolledBack, released, besideItself };
