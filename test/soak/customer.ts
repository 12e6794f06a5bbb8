/** A customer with a session: turns of all kinds over connections that break, at hosts that die. */
import { setTimeout as pause } from "node:timers/promises";
import { type Client, HostRefused, type SessionClient } from "@pawl/driver-node/client";
import type { CallOfRequest, Replies } from "@pawl/runtime";
import { type Event, EventCodec } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { type Json, stableHash } from "@pawl/tool-value";
import { type Place, hostToken } from "../../packages/driver-node/test/kill/place.ts";
import { Random } from "../../packages/driver-node/test/kill/random.ts";
import { type Called, called, isExpected } from "./expected.ts";
import type { Town } from "./town.ts";

const eventOf = (json: unknown): Event => {
  const read = EventCodec.decode(json);
  if (E.isLeft(read)) throw new Error(`no event: ${JSON.stringify(json)}`);
  return read.right;
};

/** Everything acknowledged to a customer; it must exist at the end. */
export interface Account {
  readonly session: string;
  readonly requests: string[];
  readonly flows: string[];
  /** Schedules that fire once. */
  readonly schedules: string[];
  turns: number;
}

const again = new Set(["wrong_phase", "call_unknown", "connection_lost", "scope_lost"]);
const over = new Set(["call_ended", "stale_decision", "request_unknown"]);
const againMs = 40;
const stuckMs = 120_000;

interface Made {
  readonly id: string;
  /** Absent if its time had passed when it was made. */
  readonly next_trigger_at?: string;
}

/** Says whether a host refused because it knows no such session. */
const isUnknown = (thrown: unknown): boolean => thrown instanceof HostRefused && thrown.code === "scope_unknown";

export class Customer {
  readonly account: Account;
  readonly #town: Town;
  readonly #place: Place;
  readonly #client: Client;
  readonly #session: SessionClient;
  readonly #random: Random;
  readonly #acts = new Set<Promise<void>>();
  readonly #failure = Promise.withResolvers<never>();

  constructor(town: Town, session: string, seed: number) {
    this.account = { session, requests: [], flows: [], schedules: [], turns: 0 };
    this.#town = town;
    this.#place = town.visit(seed);
    this.#client = this.#place.client();
    this.#session = this.#client.session(session);
    this.#random = new Random(seed);
    this.#failure.promise.catch(() => undefined); // The customer's life gets the failure.
  }

  /** Does turn after turn, as long as there are more. */
  async live(hasMore: (turns: number) => boolean, last: () => Promise<void> = async () => undefined): Promise<void> {
    const leaving = new AbortController();
    const watched = this.#watch(leaving.signal);
    watched.catch(this.#failure.reject);
    const turns = async (): Promise<void> => {
      while (hasMore(this.account.turns)) await this.#turn();
      await last();
    };
    await Promise.race([turns(), this.#failure.promise]);
    await Promise.all(this.#acts);
    leaving.abort();
    await watched;
    this.#town.leave(this.#place);
  }

  /** Asks the host that has the session, however often it has moved. */
  async #asked<A>(ask: () => Promise<A>): Promise<A> {
    for (;;) {
      try {
        return await ask();
      } catch (thrown) {
        if (!(thrown instanceof HostRefused) || thrown.code !== "owned_by") throw thrown;
        this.#follow(thrown);
        await pause(10);
      }
    }
  }

  #follow({ address }: HostRefused): void {
    this.#town.moveTo(this.#place, address);
    this.#place.reconnect();
  }

  async request(request: string, calls: readonly CallOfRequest[]): Promise<Replies> {
    const replies = await this.#asked(() => this.#session.request(request, calls, { keep: true }));
    await this.#asked(() => this.#session.acknowledge(request));
    this.account.requests.push(request);
    return replies;
  }

  async #turn(): Promise<void> {
    const request = `r${this.account.turns}`;
    this.account.turns += 1;
    const kinds = [this.#calls, this.#calls, this.#calls, this.#run, this.#schedule, this.#flow] as const;
    const late = new AbortController();
    await Promise.race([this.#random.of(kinds).call(this, request), this.#late(request, late.signal)]);
    late.abort();
    if (this.#random.below(20) === 0) this.#place.reconnect();
    await pause(this.#random.below(400));
  }

  /** Fails a request that takes this long: it must be stuck. */
  async #late(request: string, signal: AbortSignal): Promise<never> {
    await pause(stuckMs, undefined, { signal }).catch(() => new Promise<never>(() => undefined));
    throw this.#wrong(request, `is not over after ${stuckMs / 1000} s`);
  }

  async #calls(request: string): Promise<void> {
    const calls = Array.from({ length: 1 + this.#random.below(3) }, (_, i) => called(this.#random, request, i));
    const replies = await this.request(request, calls);
    for (const [i, { output }] of replies.entries()) {
      const call = calls[i] as Called;
      if (!isExpected(call, output)) throw this.#wrong(request, `${call.tool} came to ${JSON.stringify(output)}`);
    }
  }

  /** Returns the payload of a call that must succeed. */
  async #said<A>(request: string, tool: string, args: CallOfRequest["args"]): Promise<A> {
    const [reply] = await this.request(request, [{ label: "c0", tool, args }]);
    if (reply?.output.outcome.status !== "success") throw this.#wrong(request, `${tool}: ${JSON.stringify(reply)}`);
    return reply.output.outcome.payload as A;
  }

  async #run(request: string): Promise<void> {
    const args = { tool: "job", args: { name: request }, signal_on_completion: false };
    const { task_id } = await this.#said<{ task_id: string }>(request, "spawn_background", args);
    const { task } = await this.#said<{ task: { state: string } }>(`${request}-wait`, "wait_task", { task_id });
    if (task.state !== "succeeded") throw this.#wrong(request, `the run ended as ${JSON.stringify(task)}`);
  }

  async #schedule(request: string): Promise<void> {
    const at = new Date(Date.now() + 2000).toISOString();
    const args = { description: request, scheduled_at: at };
    const { schedule } = await this.#said<{ schedule: Made }>(request, "create_schedule", args);
    if (schedule.next_trigger_at !== undefined) this.account.schedules.push(schedule.id);
    else await this.#said(`${request}-late`, "cancel_schedule", { schedule_id: schedule.id });
    const often = { description: request, cron_expression: "* * * * * *" };
    const made = await this.#said<{ schedule: Made }>(`${request}-often`, "create_schedule", often);
    await pause(1500);
    await this.#said(`${request}-end`, "cancel_schedule", { schedule_id: made.schedule.id });
  }

  async #flow(request: string): Promise<void> {
    const headers = {
      authorization: `Bearer ${hostToken}`,
      "x-session": this.account.session,
      "idempotency-key": request,
    };
    for (;;) {
      const url = this.#town.urlOf(this.#place)?.replace("ws:", "http:");
      const text = await fetch(`${url}/flows/walk?items=a,b,c`, { headers })
        .then((response) => response.text())
        .catch(() => "");
      if (text.includes("event: flow_complete")) break;
      await pause(100);
    }
    await this.#asked(() => this.#session.acknowledge(request)); // A killed host may not have acknowledged it.
    this.account.flows.push(request);
  }

  /** Shows this session's work to another session, and sees the other's. */
  async meet(partner: string): Promise<void> {
    const args = { own: this.account.session, partner };
    const ends = await this.#said<readonly string[]>("meeting", "meet", args);
    if (JSON.stringify(ends) !== '["success","success"]') throw this.#wrong("meeting", JSON.stringify(ends));
  }

  /** Resolves to the session's last event, or to 0 where no call has made the session yet. */
  async #last(): Promise<number> {
    try {
      return await this.#asked(() => this.#session.open());
    } catch (thrown) {
      if (!isUnknown(thrown)) throw thrown;
      return 0;
    }
  }

  async #watch(leaving: AbortSignal): Promise<void> {
    let last = await this.#last();
    while (!leaving.aborted) {
      const observation = this.#session.observe({ after: last, window: 64 });
      const leave = (): void => void observation.return();
      leaving.addEventListener("abort", leave);
      try {
        for await (const { cursor, event } of observation) {
          if (cursor !== last + 1) throw this.#wrong(event.type, `after event ${last} came ${cursor}`);
          last = cursor;
          this.#act(eventOf(event));
        }
      } catch (thrown) {
        if (thrown instanceof HostRefused && thrown.code === "owned_by") this.#follow(thrown);
        else if (last > 0 || !isUnknown(thrown)) throw thrown;
        await pause(10);
      } finally {
        leaving.removeEventListener("abort", leave);
      }
    }
  }

  #act(event: Event): void {
    for (const act of this.#actsOn(event)) {
      const acting: Promise<void> = this.#until(act).finally(() => this.#acts.delete(acting));
      acting.catch(this.#failure.reject);
      this.#acts.add(acting);
    }
  }

  /** Repeats an act until it is done, or reported as done already. */
  async #until(act: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await this.#asked(act);
        return;
      } catch (thrown) {
        if (!(thrown instanceof HostRefused) || !(again.has(thrown.code) || over.has(thrown.code))) throw thrown;
        if (over.has(thrown.code)) return;
        await pause(againMs);
      }
    }
  }

  #actsOn(event: Event): readonly (() => Promise<unknown>)[] {
    const approve = (call: string, args: Json) => () =>
      this.#session.approve(call, { hash: stableHash(args), id: call });
    const resolve = (key: string) => () => this.#session.resolveById(key, { status: "ok", payload: "resolved" });
    switch (event.type) {
      case "request.submitted":
        return event.calls
          .filter(({ tool }) => tool === "asked")
          .map(({ id, args }) => approve(`${event.request}:${id}`, args));
      case "effect.requested":
        return event.effect.kind === "wait" && !event.call.startsWith("meeting") ? [resolve(event.effect.wait)] : [];
      case "call.settled":
        return event.result.type === "pending" ? [resolve(event.result.key)] : [];
      case "step.settled":
        return event.key === "durable-step:begun" ? [() => this.#session.cancel({ call: event.call })] : [];
      default:
        return [];
    }
  }

  #wrong(request: string, what: string): Error {
    return new Error(`${this.account.session} ${request}: ${what}`);
  }
}
