/** Logs that are shortened while somebody reads them: between where they begin, and their lines. */
import { replay } from "@pawl/sansio-core";
import { expect, it } from "vitest";
import { type Journal, defineTool, logText } from "../src/index.ts";
import { snapshotText } from "../src/scope/open-scope.ts";
import { World } from "./world.ts";

const waits = defineTool({ name: "waits", durable: true, execute: (_, ctx) => ctx.waitFor("go") });
const echo = defineTool({ name: "echo", execute: (args) => args as never });
const scope = "session:s";

/** A session with a call that waits, and a store that shortens its log once, between what is read of it first and next. */
const begin = async () => {
  const world = new World();
  const { journal } = world;
  let cuts: (() => Promise<void>) | undefined;
  const cut = async (): Promise<void> => {
    const now = cuts;
    cuts = undefined;
    await now?.();
  };
  const during = async <A>(reading: Promise<A>): Promise<A> => {
    const read = await reading;
    await cut();
    return read;
  };
  const faulty: Partial<Journal> = {
    segment: (...of) => during(journal.segment(...of)),
    read: (...of) => during(journal.read(...of)),
  };
  const { runtime } = world.start([waits, echo], { faulty });
  const session = await runtime.session("s");
  void session.request("waiting", [{ label: "c", tool: "waits", args: {} }]).catch(() => undefined);
  for (let n = 0; n < 10; n++) await session.request(`r${n}`, [{ label: "c", tool: "echo", args: n }]);
  const { durable, epoch } = session.runner;
  const shorten = async (to = durable): Promise<void> => {
    expect(await journal.snapshot(scope, epoch, to.seq, snapshotText(to))).toEqual({ type: "ok" });
    expect(await journal.retain(scope, epoch, [])).toMatchObject({ type: "ok" });
  };
  const wait = session.state.waits.rows()[0]?.key ?? "";
  await session.resolveById(wait, { status: "ok", payload: "gone" }, "ann");
  await world.quiet();
  const store: Journal = { ...journal, ...faulty };
  const shortenNext = (): void => void (cuts = () => shorten());
  const callAndShortenNext = (): void =>
    void (cuts = async () => {
      await session.request("meanwhile", [{ label: "c", tool: "echo", args: 1 }]);
      await shorten(session.runner.durable);
    });
  return { session, store, base: durable.seq, shortenNext, callAndShortenNext };
};

it("are a gap to who observes from before, or told whole, and never less", async () => {
  const { session, base, shortenNext } = await begin();
  const seen = session.observe({ from: { scope, seq: 1, index: 0 } });
  shortenNext();
  const [first, second] = [(await seen.next()).value, (await seen.next()).value];
  const isGap = first?.type === "gap";
  expect(isGap ? first.to.seq : first).toEqual(
    isGap ? base : expect.objectContaining({ cursor: { scope, seq: 2, index: 0 } }),
  );
  expect(second).toMatchObject({ type: "observed" });
  await seen.return();
});

it("are a gap up to what an observer is told of as it happens, and no further", async () => {
  const { session, callAndShortenNext } = await begin();
  const { seq } = session.state;
  const seen = session.observe({ from: { scope, seq: 1, index: 0 } });
  callAndShortenNext();
  expect((await seen.next()).value).toMatchObject({ type: "gap", to: { seq } });
  expect((await seen.next()).value).toMatchObject({ type: "observed", cursor: { seq: seq + 1 } });
  await seen.return();
});

it("answer a request that was submitted before and finished after", async () => {
  const { session, shortenNext } = await begin();
  shortenNext();
  const [reply] = await session.request("waiting", [{ label: "c", tool: "waits", args: {} }]);
  expect(reply?.output.outcome).toMatchObject({ status: "success", payload: "gone" });
});

it("are exported as they stand before, or after", async () => {
  const { session, store, shortenNext } = await begin();
  shortenNext();
  const text = (await logText(store, scope)) ?? [];
  const { fault, state } = replay(text);
  expect(fault).toBeUndefined();
  expect(state?.seq).toBe(session.state.seq);
});
