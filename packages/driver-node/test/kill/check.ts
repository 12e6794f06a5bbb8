/** Final checks of a world: its logs, the outside effects, and what agents were told. */
import type { Journal } from "@pawl/runtime";
import {
  type Event,
  EventCodec,
  type EventOf,
  type Recorded,
  type State,
  headerLine,
  outstanding,
  replay,
} from "@pawl/sansio-core";
import { stableHash } from "@pawl/tool-value";
import type { Account } from "./agent.ts";
import { type Done, Effects } from "./effects.ts";
import { type JournalPlace, journalOf } from "./journal.ts";

export interface Checked {
  readonly events: number;
  readonly steps: number;
  readonly wrong: readonly string[];
}

const textOf = (value: unknown): string => stableHash(value as never);
const groupedBy = <A>(all: readonly A[], keyOf: (one: A) => string): ReadonlyMap<string, readonly A[]> =>
  Map.groupBy(all, keyOf);

/** Other steps are the runtime's own and have no outside effect. */
const isOutside = ({ key }: EventOf<"step.settled">): boolean => key.startsWith("durable-step:");
const isKeyed = ({ key }: EventOf<"step.settled">): boolean => key.startsWith("durable-step:keyed");

export class ScopeCheck {
  readonly #scope: string;
  readonly #recorded: Recorded[] = [];
  #state: State | undefined;
  readonly wrong: string[] = [];
  steps = 0;

  constructor(scope: string) {
    this.#scope = scope;
  }

  get events(): number {
    return this.#recorded.length;
  }

  #expect(holds: boolean, message: string): void {
    if (!holds) this.wrong.push(`${this.#scope}: ${message}`);
  }

  /** Checks a log; `lines` includes those that retention has deleted. */
  async log(journal: Journal, lines?: readonly string[]): Promise<void> {
    this.#replay(lines ?? (await journal.read(this.#scope, 1)).map(({ line }) => line));
    const check = await journal.verify(this.#scope);
    this.#expect(check?.type === "whole", `the chain is ${JSON.stringify(check)}`);
  }

  #replay(lines: readonly string[]): void {
    const header = headerLine({ format: 1, protocol: 1, scope: this.#scope, epoch: 1, writer: "kills", base: 0 });
    const onStep = (recorded: Recorded): void => void this.#recorded.push(recorded);
    const { fault, events, state } = replay([header, ...lines], { onStep });
    this.#state = state;
    this.#expect(fault === undefined, `the log does not replay: ${fault?.message}`);
    this.#expect(events === lines.length, `${events} events replay of ${lines.length}`);
  }

  /** Checks that everything observed or acknowledged is in the log. */
  account({ observed, acknowledged }: Account): void {
    for (const { cursor, event } of observed) {
      const recorded = this.#recorded[cursor - 1];
      const logged = recorded === undefined ? null : EventCodec.encode(recorded.event);
      this.#expect(textOf(logged) === textOf(event), `event ${cursor} was seen as ${JSON.stringify(event)}`);
    }
    this.acknowledged(acknowledged);
  }

  /** Looks up facts of one form together: there are as many as turns. */
  acknowledged(facts: readonly Partial<Event>[]): void {
    for (const alike of groupedBy(facts, (fact) => Object.keys(fact).join()).values()) {
      const fields = Object.keys(alike[0] ?? {}) as (keyof Event)[];
      const nameOf = (event: Partial<Event>): string => JSON.stringify(fields.map((field) => event[field]));
      const found = groupedBy(this.#recorded, ({ event }) => nameOf(event));
      for (const fact of alike) {
        const times = found.get(nameOf(fact))?.length ?? 0;
        this.#expect(times === 1, `acknowledged, and ${times} times in the log: ${JSON.stringify(fact)}`);
      }
    }
  }

  /** Checks that nothing is left to do. */
  atRest(): void {
    const open = this.#state === undefined ? [] : outstanding(this.#state).map(({ type }) => type);
    this.#expect(open.length === 0, `outstanding at the end: ${open.join(", ")}`);
    const live = [...(this.#state?.calls.rows() ?? [])].map(({ call, phase }) => `${call.ref} ${phase}`);
    this.#expect(live.length === 0, `not over at the end: ${live.join(", ")}`);
  }

  /** Returns the epochs in which each process wrote. */
  #epochs(): ReadonlyMap<string, readonly number[]> {
    const opened = this.#recorded.flatMap(({ event }) => (event.type === "scope.opened" ? [event] : []));
    const owned = groupedBy(opened, ({ owner }) => owner);
    return new Map([...owned].map(([owner, all]) => [owner, all.map(({ epoch }) => epoch)]));
  }

  /**
   * Checks that outside effects were recorded first, and that a recorded result belongs to one and was not made again.
   */
  effects(done: readonly Done[]): void {
    const made = groupedBy(done, ({ call, key }) => `${call} ${key}`);
    const epochs = this.#epochs();
    const recoveries = new Map<string, string>();
    for (const { event, epoch } of this.#recorded) {
      if (event.type === "effect.requested" && event.effect.kind === "step")
        recoveries.set(`${event.call} ${event.key}`, event.effect.recovery);
      if (event.type === "step.settled" && isOutside(event) && !isKeyed(event))
        this.#settled(event, epoch, made, epochs);
    }
    for (const [name, all] of made)
      this.#made(name, all, name.endsWith(" body") ? "once" : recoveries.get(name), epochs);
  }

  #settled(
    { call, key, result }: EventOf<"step.settled">,
    epoch: number,
    made: ReadonlyMap<string, readonly Done[]>,
    epochs: ReadonlyMap<string, readonly number[]>,
  ): void {
    const name = `${call} ${key}`;
    const epochsOf = ({ instance }: Done): readonly number[] => epochs.get(instance) ?? [];
    const all = made.get(name) ?? [];
    const isMade = all.some((one) => epochsOf(one).includes(epoch));
    this.#expect(isMade || result.status === "err", `${name} is on record, and was not done by whoever recorded it`);
    const isAgain = all.some((one) => epochsOf(one).every((other) => other > epoch));
    this.#expect(!isAgain, `${name} was done again after it was on record`);
    this.steps += 1;
  }

  #made(
    name: string,
    all: readonly Done[],
    recovery: string | undefined,
    epochs: ReadonlyMap<string, readonly number[]>,
  ): void {
    this.#expect(recovery !== undefined, `${name} was done, and is not on record`);
    if (recovery === "once") this.#expect(all.length === 1, `${name} may be done once, was ${all.length} times`);
    for (const [instance, own] of groupedBy(all, (one) => one.instance)) {
      const most = epochs.get(instance)?.length ?? 0;
      this.#expect(own.length <= most, `${name} was done ${own.length} times in ${most} lives of ${instance}`);
    }
  }

  /** Checks that a service with keys did each thing once. */
  served(keys: readonly string[]): void {
    const asked = this.#recorded.filter(({ event }) => event.type === "step.settled" && isKeyed(event));
    this.#expect(keys.length === asked.length, `${asked.length} keyed steps are on record, ${keys.length} were served`);
  }

  /** Checks that the replies equal those of an undisturbed session; only `once` steps may be unknown instead. */
  replies({ replies, program }: Account, undisturbed: Account | undefined): void {
    for (const { id } of program.requests) {
      const [found, expected] = [replies.get(id), undisturbed?.replies.get(id)];
      for (const [i, reply] of (found ?? []).entries()) {
        const wanted = expected?.[i];
        const isSame = textOf(reply) === textOf(wanted ?? null) || isUnknownOf(reply, wanted);
        this.#expect(isSame, `${id} was answered ${JSON.stringify(reply)}, undisturbed ${JSON.stringify(wanted)}`);
      }
      this.#expect(found?.length === expected?.length && found !== undefined, `${id} has not all its replies`);
    }
  }
}

type Told = NonNullable<ReturnType<Account["replies"]["get"]>>[number];

const isUnknownOf = ({ tool, output }: Told, wanted: Told | undefined): boolean => {
  if (tool === "bound") return JSON.stringify(output).includes("unknown");
  const [found, expected] = [output.outcome, wanted?.output.outcome].map((outcome) => JSON.stringify(outcome ?? null));
  return (
    tool === "once" &&
    found?.replaceAll(/"unknown"|"once-\d+-slow"/g, "·") === expected?.replaceAll(/"once-\d+-slow"/g, "·")
  );
};

export const checkWorld = async (
  place: string | JournalPlace,
  accounts: readonly Account[],
  undisturbed: readonly Account[],
): Promise<Checked> => {
  const { folder, ...at } = typeof place === "string" ? { folder: place } : place;
  const journal = journalOf({ folder, ...at });
  const effects = new Effects(folder);
  const done = groupedBy(effects.done, ({ scope }) => scope);
  const served = groupedBy(effects.served, (key) => key.split(" ")[0] as string);
  const wanted = new Map(undisturbed.map((account) => [account.program.session, account]));
  const [wrong, counts]: [string[], { events: number; steps: number }] = [[], { events: 0, steps: 0 }];
  for (const account of accounts) {
    const scope = `session:${account.program.session}`;
    const check = new ScopeCheck(scope);
    await check.log(journal);
    check.account(account);
    check.effects(done.get(scope) ?? []);
    check.served(served.get(scope) ?? []);
    check.replies(account, wanted.get(account.program.session));
    wrong.push(...check.wrong);
    counts.events += check.events;
    counts.steps += check.steps;
  }
  await journal.close();
  return { ...counts, wrong };
};
