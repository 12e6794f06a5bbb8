/** Model test: two connections to one file must behave as the journal in memory. */
import { type Journal, memoryJournal } from "@pawl/runtime";
import type { Append } from "@pawl/runtime/driver";
import { afterAll, expect, it } from "vitest";
import { type SqliteJournal, sqliteJournal } from "../src/index.ts";
import { testFolder } from "./sqlite-rig.ts";

const { file, remove } = testFolder();
afterAll(remove);

const scopes = ["session:a", "session:a\0", "process:b"];

/** Random choices from a seed. */
const chancesOf = (seed: number) => {
  let state = seed * 7919;
  const below = (n: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  return { below, oneOf: <A>(all: readonly A[]): A => all[below(all.length)] as A };
};

/** The model of a scope: its owner's connection, its epoch, and the ends of its appends. */
interface Known {
  readonly owner: number;
  readonly epoch: number;
  readonly ends: readonly number[];
}

const lived = async (seed: number): Promise<void> => {
  const { below, oneOf } = chancesOf(seed);
  const path = file(`${seed}.db`);
  const opened = (): SqliteJournal => sqliteJournal(path, { commits: "inline", synchronous: "normal" });
  const memory = memoryJournal();
  const files = [opened(), opened()];
  const known = new Map<string, Known>();
  let step = 0;

  const both = async <A>(by: number, what: (journal: Journal) => Promise<A>): Promise<A> => {
    const wanted = await what(memory);
    expect(await what(files[by] as Journal), `seed ${seed}, step ${step}`).toEqual(wanted);
    return wanted;
  };
  const claim = async (scope: string, by: number): Promise<void> => {
    const claimed = await both(by, (journal) => journal.claim(scope, `i${by}`, 1));
    const { ends = [] } = known.get(scope) ?? {};
    if (claimed.type === "claimed") known.set(scope, { owner: by, epoch: claimed.epoch, ends });
  };
  const append = async (scope: string, { owner, epoch, ends }: Known): Promise<void> => {
    const [first, count] = [(ends.at(-1) ?? 0) + 1, 1 + below(4)];
    const lines = Array.from({ length: count }, (_, i) => ({ seq: first + i, line: `${first + i} of ${step}\n` }));
    const finished = below(2) === 0 ? [] : [{ kind: "request", id: `r${below(20)}`, seq: first } as const];
    const message = { to: oneOf(scopes), kind: "message", link: 1, number: step, text: `${step}` } as const;
    const messages = below(5) === 0 ? [message] : [];
    const at = { scope, epoch, expectedSeq: first, appendId: `${epoch}:${first}` };
    const one: Append = { ...at, lines, finished, wakeAt: undefined, protocol: 1, messages, received: [] };
    const [result] = await both(owner, (journal) => journal.appendAll([one]));
    if (result?.type === "ok") known.set(scope, { owner, epoch, ends: [...ends, first + count - 1] });
  };
  const shorten = async (scope: string, { owner, epoch, ends }: Known): Promise<void> => {
    const seq = oneOf(ends);
    if (seq === undefined || seq <= ((await memory.segment(scope))?.base ?? 0)) return;
    await both(owner, (journal) => journal.snapshot(scope, epoch, seq, `state ${seq}`));
    const keep = Array.from({ length: below(5) }, () => 1 + below(seq));
    if (below(2) === 0) await both(owner, (journal) => journal.retain(scope, epoch, keep));
  };
  const look = async (scope: string, by: number, last: number): Promise<void> => {
    const from = below(last + 3);
    const to = oneOf([undefined, from + below(12)]);
    await both(by, (journal) => journal.read(scope, from, to));
    for (let id = 0; id < 20; id++) await both(by, (journal) => journal.find(scope, "request", `r${id}`));
    await both(by, async (journal) => [await journal.head(scope), await journal.segment(scope)]);
    await both(by, (journal) => journal.inbox(scope));
    if (last > 0) expect(await files[by]?.verify(scope)).toMatchObject({ type: "whole" });
  };

  for (; step < 120; step++) {
    const [scope, by] = [oneOf(scopes), below(2)];
    const at = known.get(scope);
    const what = below(12);
    if (at === undefined || what === 0) await claim(scope, by);
    else if (what < 6) await append(scope, at);
    else if (what === 6) await shorten(scope, at);
    else await look(scope, by, at.ends.at(-1) ?? 0);
  }
  await Promise.all(files.map((one) => one.close()));
};

it("reads, finds and verifies the same as the model, whoever wrote, and wherever retention cut", async () => {
  for (let seed = 1; seed <= 12; seed++) await lived(seed);
});
