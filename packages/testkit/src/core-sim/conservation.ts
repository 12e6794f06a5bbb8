/** Conservation: counts replies, observations, messages and effects that are durable. None may be lost or doubled. */
import type { CommandOf, Command, Envelope, EventOf, Transition } from "@pawl/sansio-core";
import { type Outcome, bodyOf } from "@pawl/sansio-core/driver";
import { type Json, stringify } from "@pawl/tool-value";
import { Prompts } from "./prompts.ts";
import { TurnLedger } from "./turn-ledger.ts";
import { CoreSimViolation } from "./violation.ts";

interface MessageFate {
  sent: number;
  received: number;
  readonly verdicts: string[];
  readonly heard: string[];
}

type Patched = EventOf<"effect.requested" | "effect.reused" | "call.settled">;

const textOf = (outcome: Outcome): string => stringify({ ...outcome } satisfies Json);

export class Conservation {
  readonly prompts = new Prompts();
  readonly #submitted = new Map<string, number>();
  readonly #replied = new Map<string, number>();
  readonly #acked = new Map<string, number>();
  readonly #observed = new Set<string>();
  readonly #effects = new Map<string, { readonly seq: number; isSettled: boolean }>();
  readonly #messages = new Map<string, MessageFate>();
  readonly #once = new Set<string>();
  /** Answers that bodies got about patches. */
  readonly #patches = new Map<string, boolean>();
  readonly #turns = new TurnLedger();

  #broken(message: string): never {
    throw new CoreSimViolation("conservation", message);
  }

  take(scope: string, envelope: Envelope, transition: Transition): void {
    const { seq, event } = envelope;
    const { state, commands } = transition;
    this.#turns.take(scope, envelope, transition);
    if ("patched" in event && event.patched !== undefined) this.#patched(scope, state, event);
    switch (event.type) {
      case "request.submitted":
      case "flow.submitted":
      case "turn.submitted":
        add(this.#submitted, `${scope} ${event.request}`);
        break;
      case "reply.acked":
        add(this.#acked, `${scope} ${event.request}`);
        break;
      case "call.settled":
        if (!this.#observed.has(`${scope} ${event.call}`))
          this.#broken(`${scope} ${event.call}: its start was not observed`);
        break;
      case "effect.requested":
        this.#effects.set(`${scope} ${event.call} ${event.key}`, { seq, isSettled: false });
        break;
      case "step.settled":
      case "host.answered":
      case "replies.recorded":
        this.#settled(`${scope} ${event.call} ${event.key}`);
        break;
      case "message.received":
        this.#fate(event.from, scope, event).received += 1;
        break;
      case "message.answered":
        this.#fate(scope, event.to, event).heard.push(textOf(event.outcome));
        break;
      default:
    }
    for (const command of commands) this.#commanded(scope, command);
  }

  /** Checks that a body is told the same of a patch for as long as it lives, once that is on record. */
  #patched(scope: string, { calls }: Transition["state"], { call, patched = {} }: Patched): void {
    const row = calls.at(call);
    const body = row === undefined ? undefined : bodyOf(row);
    if (row === undefined || body === undefined) return; // Its end was the last that it said.
    for (const patch of Object.keys(patched)) {
      const name = `${scope} ${call} born at ${row.call.born}, life ${body.life.number}: patch ${patch}`;
      const answer = body.patches[patch];
      if (answer === undefined || answer !== (this.#patches.get(name) ?? answer))
        this.#broken(`${name}: ${this.#patches.get(name)} became ${answer}`);
      this.#patches.set(name, answer);
    }
  }

  #settled(name: string): void {
    const record = this.#effects.get(name);
    if (record === undefined) this.#broken(`${name}: settled without a request`);
    if (record.isSettled) this.#broken(`${name}: the effect of ${record.seq} is settled twice`);
    record.isSettled = true;
  }

  #commanded(scope: string, command: Command): void {
    switch (command.type) {
      case "reply":
        return add(this.#replied, `${scope} ${command.request}`);
      case "observe":
        return this.#observe(command.what, `${scope} ${command.call}`);
      case "send":
        this.#fate(scope, command.to, command).sent += 1;
        return undefined;
      case "message.answer":
        this.#fate(command.to, scope, command).verdicts.push(textOf(command.outcome));
        return undefined;
      default:
        return undefined;
    }
  }

  /** Counts an observation. A call's name may be used again after its end. */
  #observe(what: string, call: string): void {
    if (what === "call_started") {
      if (this.#observed.has(call)) this.#broken(`${call} is observed as started again`);
      this.#observed.add(call);
    }
    if (what === "call_completed" && !this.#observed.delete(call))
      this.#broken(`${call} is observed as completed, and not as started`);
  }

  #fate(from: string, to: string, { link, number }: { readonly link: number; readonly number: number }): MessageFate {
    const name = `${from} > ${to} ${link}/${number}`;
    let fate = this.#messages.get(name);
    if (fate === undefined) {
      fate = { sent: 0, received: 0, verdicts: [], heard: [] };
      this.#messages.set(name, fate);
    }
    return fate;
  }

  /** Records that a step ran. A `once` step may run once for each record. */
  ran(scope: string, command: CommandOf<"step.run">, state: Transition["state"]): void {
    if (command.recovery !== "once") return;
    const row = state.calls.at(command.call);
    const open = row === undefined ? undefined : bodyOf(row)?.open.find(({ key }) => key === command.key);
    if (open === undefined) return;
    const name = `${scope} ${command.call} ${command.key} ${open.seq}`;
    if (this.#once.has(name)) this.#broken(`${name}: a \`once\` step has run twice`);
    this.#once.add(name);
  }

  close(states: readonly Transition["state"][]): void {
    for (const state of states) this.#turns.close(state.scope.id, state);
    for (const [request, times] of this.#submitted) {
      const replied = this.#replied.get(request) ?? 0;
      const acked = this.#acked.get(request) ?? 0;
      if (replied !== times || acked !== times)
        this.#broken(`${request}: submitted ${times} times, replied to ${replied} times, acknowledged ${acked} times`);
    }
    const [open] = this.#observed;
    if (open !== undefined) this.#broken(`${open} ended without being observed as completed`);
    for (const [name, { sent, received, verdicts, heard }] of this.#messages) {
      const isWhole = sent === 1 && received === 1 && verdicts.length === 1 && heard.length === 1;
      if (!isWhole)
        this.#broken(
          `${name}: sent ${sent}, received ${received}, answered ${verdicts.length}, acknowledged ${heard.length} times`,
        );
      if (verdicts[0] !== heard[0]) this.#broken(`${name}: answered ${verdicts[0]}, received ${heard[0]}`);
    }
  }
}

const add = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};
