/**
 * A journal as one process of a simulated world sees it: messages take time, faults occur, and dead processes get no
 * answer.
 */
import type { Journal } from "@pawl/runtime";
import type { Append, AppendResult, Claim } from "@pawl/runtime/driver";
import type { Actor, VirtualClock } from "./clock.ts";
import type { Fate, Moment } from "./moment.ts";

/** The world around a store. */
export interface Around {
  readonly clock: VirtualClock;
  /** Reports a moment. The process may be dead afterwards. */
  readonly pass: (moment: Moment) => Fate;
  readonly die: () => void;
  /** Reports a claim that succeeded or failed. */
  readonly claims: (isClaimed: boolean) => void;
  /** Reports a stored append. */
  readonly taken: (append: Append) => void;
}

export const never = new Promise<never>(() => undefined);

/** Duration of a slow commit. */
export const slowMs = 700;

const scopesOf = (appends: readonly Append[]): string => appends.map(({ scope }) => scope).join(", ");
const each = (appends: readonly Append[], result: AppendResult): readonly AppendResult[] => appends.map(() => result);

type Method = (...args: unknown[]) => Promise<unknown>;

export const mortalJournal = (journal: Journal, actor: Actor, { clock, pass, die, claims, taken }: Around): Journal => {
  const travel = (): Promise<void> => new Promise((resolve) => clock.turn(actor, resolve));
  const alive = async <A>(value: A): Promise<A> => (actor.isAlive ? value : never);

  /** Writes scopes one after the other: they share a commit but may fail separately. */
  const write = async (appends: readonly Append[], scopes: string): Promise<readonly AppendResult[]> => {
    const results: AppendResult[] = [];
    for (const append of appends) {
      if (results.length > 0) await alive(pass({ type: "append", when: "within", scopes }));
      const written = await journal.appendAll([append]);
      if (written[0]?.type === "ok") taken(append);
      results.push(...written);
    }
    return results;
  };

  const tear = async (appends: readonly Append[]): Promise<never> => {
    for (const append of appends.slice(0, appends.length >> 1)) {
      const [result] = await journal.appendAll([append]);
      if (result?.type === "ok") taken(append);
    }
    die();
    return never;
  };

  const appendAll: Journal["appendAll"] = async (appends) => {
    await travel();
    const scopes = scopesOf(appends);
    const fate = await alive(pass({ type: "append", when: "before", scopes }));
    if (fate === "full") return each(appends, { type: "full" });
    if (fate === "refused") return each(appends, { type: "failed", message: "the store refuses" });
    if (fate === "fenced") return each(appends, { type: "fenced", epoch: Number.MAX_SAFE_INTEGER });
    if (fate === "torn") return tear(appends);
    if (fate === "frozen") await travel();
    if (fate === "slow") await clock.sleep(actor, slowMs);
    if (fate === "twice") await journal.appendAll(appends);
    const results = await write(appends, scopes);
    await alive(pass({ type: "append", when: "after", scopes }));
    await travel();
    return fate === "lost_acknowledgement" ? each(appends, { type: "failed", message: "no answer came" }) : results;
  };

  const claim = async (...args: unknown[]): Promise<unknown> => {
    await travel();
    const scope = String(args[0]);
    await alive(pass({ type: "claim", when: "before", scope }));
    const claimed = await (journal.claim as Method)(...args);
    claims((claimed as Claim).type === "claimed");
    return alive(pass({ type: "claim", when: "after", scope })).then(() => claimed);
  };

  const plain = (name: string, method: Method): readonly [string, Method] => [
    name,
    async (...args) => {
      await travel();
      const answer = await alive(await Reflect.apply(method, journal, args));
      await travel();
      return answer;
    },
  ];

  const { blobs: inner, moves: _, ...rest } = journal;
  const methods = Object.entries(rest as unknown as { readonly [name: string]: Method });
  const blobs = inner && {
    ...inner,
    put: plain("put", inner.put as Method)[1],
    read: plain("read", inner.read as Method)[1],
  };
  return {
    ...Object.fromEntries(methods.map(([name, method]) => plain(name, method))),
    ...(blobs === undefined ? {} : { blobs }),
    appendAll,
    claim,
  } as unknown as Journal;
};
