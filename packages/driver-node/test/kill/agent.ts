/**
 * An agent that works with a host: calls tools, watches, resolves, approves, cancels, and records what was
 * acknowledged.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Event, EventCodec } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import type { Reply } from "@pawl/runtime";
import { stableHash } from "@pawl/tool-value";
import { type Client, HostRefused, type Observation, type Observed, type SessionClient } from "@pawl/wire";
import type { Program } from "./program.ts";

const eventOf = (json: unknown): Event => {
  const read = EventCodec.decode(json);
  if (E.isLeft(read)) throw new Error(`no event: ${JSON.stringify(json)}`);
  return read.right;
};

export interface Account {
  readonly program: Program;
  /** Replies by request, without durations. */
  readonly replies: ReadonlyMap<string, readonly Reply[]>;
  readonly observed: readonly Observed[];
  /** Events that must be in the log, because the host confirmed them. */
  readonly acknowledged: readonly Partial<Event>[];
}

const withoutTimes = (replies: readonly Reply[]): readonly Reply[] =>
  replies.map((reply) => ({ ...reply, durationMs: 0 }));

/** Errors after which only the log tells whether a decision was recorded. */
const undecided = new Set(["connection_lost", "scope_lost", "owned_by", "wrong_phase", "call_ended", "call_unknown"]);

export class Agent {
  readonly #session: SessionClient;
  readonly #program: Program;
  readonly #observed: Observed[] = [];
  readonly #acknowledged: Partial<Event>[] = [];
  readonly #replies = new Map<string, readonly Reply[]>();
  #observation: Observation | undefined;
  #isOver = false;
  readonly #acts: Promise<void>[] = [];
  /** A failed act ends the agent, which might otherwise wait for its effect for ever. */
  readonly #failure = Promise.withResolvers<never>();

  constructor(client: Client, program: Program) {
    this.#session = client.session(program.session);
    this.#program = program;
    this.#failure.promise.catch(() => undefined);
  }

  async run(): Promise<Account> {
    const watched = this.#watch();
    watched.catch(() => undefined); // Awaited below.
    await Promise.race([this.#call(), watched, this.#failure.promise]);
    await Promise.all(this.#acts);
    this.#isOver = true;
    await this.#observation?.return();
    await watched;
    const [replies, observed, acknowledged] = [this.#replies, this.#observed, this.#acknowledged];
    return { program: this.#program, replies, observed, acknowledged };
  }

  async #call(): Promise<void> {
    for (const { id, calls } of this.#program.requests) {
      this.#replies.set(id, withoutTimes(await this.#session.request(id, calls, { keep: true })));
      await this.#session.acknowledge(id);
      this.#acknowledged.push({ type: "reply.acked", request: id });
    }
    for (const { id, calls } of this.#program.requests) {
      const again = withoutTimes(await this.#session.request(id, calls, { keep: true }));
      if (stableHash(again as never) !== stableHash(this.#replies.get(id) as never))
        throw new Error(`${this.#session.scope} ${id}: submitted again, its replies differ: ${JSON.stringify(again)}`);
    }
  }

  /** Observes from the beginning. Until the session's first event is durable, a host may know no such session. */
  async #watch(): Promise<void> {
    while (!this.#isOver) {
      try {
        this.#observation = this.#session.observe({ window: 64 });
        return await this.#follow(this.#observation);
      } catch (thrown) {
        const isUnknown = thrown instanceof HostRefused && thrown.code === "scope_unknown";
        if (!isUnknown || this.#observed.length > 0) throw thrown;
        await pause(5);
      }
    }
  }

  async #follow(observation: Observation): Promise<void> {
    for await (const observed of observation) {
      const { cursor } = observed;
      const last = this.#observed.at(-1)?.cursor ?? 0;
      if (cursor !== last + 1) throw new Error(`${this.#session.scope}: after event ${last} came ${cursor}`);
      this.#observed.push(observed);
      for (const act of this.#actsOn(eventOf(observed.event))) this.#act(act);
    }
  }

  #act(act: () => Promise<void>): void {
    const acting = act();
    acting.catch(this.#failure.reject);
    this.#acts.push(acting);
  }

  #actsOn(event: Event): readonly (() => Promise<void>)[] {
    switch (event.type) {
      case "request.submitted":
        return event.calls.flatMap(({ id, tool, args }) =>
          tool === "asked" ? [() => this.#approve(`${event.request}:${id}`, stableHash(args))] : [],
        );
      case "effect.requested": {
        const { effect } = event;
        return effect.kind === "wait" ? [() => this.#resolve(effect.wait)] : [];
      }
      case "call.settled": {
        const { result } = event;
        return result.type === "pending" ? [() => this.#resolve(result.key)] : [];
      }
      case "step.settled":
        return event.key === "durable-step:begun" ? [() => this.#cancel(event.call)] : [];
      default:
        return [];
    }
  }

  async #resolve(key: string): Promise<void> {
    const resolution = { status: "ok", payload: "resolved" } as const;
    const outcome = await this.#session.resolveById(key, resolution);
    const isOurs = outcome.status === "already_resolved" && outcome.terminal.status === "ok";
    if (outcome.status !== "accepted" && !isOurs) throw new Error(`${key}: resolved as ${JSON.stringify(outcome)}`);
    this.#acknowledged.push({ type: "wait.resolved", key });
  }

  #isDecided(call: string): boolean {
    return this.#observed.some(({ event }) => event.type === "approval.decided" && event.call === call);
  }

  async #approve(call: string, hash: string): Promise<void> {
    while (!this.#isDecided(call)) {
      try {
        await this.#session.approve(call, { hash });
        break;
      } catch (thrown) {
        if (!(thrown instanceof HostRefused) || !undecided.has(thrown.code)) throw thrown;
        await pause(5);
      }
    }
    this.#acknowledged.push({ type: "approval.decided", call });
  }

  /** Repeated over a new connection it may come too late, because the first request did it. */
  async #cancel(call: string): Promise<void> {
    try {
      await this.#session.cancel({ call });
    } catch (thrown) {
      if (!(thrown instanceof HostRefused) || thrown.code !== "call_ended") throw thrown;
    }
    this.#acknowledged.push({ type: "call.cancelled", call });
  }
}
