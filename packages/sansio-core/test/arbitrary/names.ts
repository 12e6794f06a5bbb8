/** What an event may name: what is there, what was there, and what never was. */
import { bodyOf } from "../../src/call/row.ts";
import type { EventOf, EventType, State } from "../../src/kernel/vocabulary.ts";
import { waitKeys } from "./body.ts";
import type { Dice } from "./dice.ts";
import { anyText } from "./value.ts";
import { toolNames } from "./world.ts";

/** A state, and what may be named in it. */
export class Names {
  readonly dice: Dice;
  readonly state: State;

  constructor(dice: Dice, state: State) {
    this.dice = dice;
    this.state = state;
  }

  call(): string {
    const rows = this.state.calls.rows();
    const isThere = rows.length > 0 && this.dice.isUnder(85);
    return isThere ? this.dice.pick(rows).call.ref : `r1:${anyText(this.dice)}`;
  }
  request(): string {
    const rows = this.state.requests.rows();
    return rows.length > 0 && this.dice.isUnder(60) ? this.dice.pick(rows).request : anyText(this.dice);
  }
  wait(): string {
    const rows = this.state.waits.rows();
    if (rows.length > 0 && this.dice.isUnder(60)) return this.dice.pick(rows).key;
    return this.dice.isUnder(80) ? this.dice.pick(waitKeys) : anyText(this.dice);
  }
  effect(call: string): string {
    const row = this.state.calls.at(call);
    const open = (row === undefined ? undefined : bodyOf(row))?.open ?? [];
    return open.length > 0 && this.dice.isUnder(70) ? this.dice.pick(open).key : anyText(this.dice);
  }
  requested(call: string, key: string): number {
    const row = this.state.calls.at(call);
    const seq = (row === undefined ? undefined : bodyOf(row))?.open.find((open) => open.key === key)?.seq;
    return seq !== undefined && this.dice.isUnder(80) ? seq : 1 + this.dice.below(9);
  }
  run(call = this.call()) {
    const row = this.state.calls.at(call);
    const body = row === undefined ? undefined : bodyOf(row);
    const off = this.dice.isUnder(90) ? 0 : 1;
    return { call, attempt: (body?.attempt ?? 1) + off, run: (body?.run ?? 1) + off };
  }
  /** A stream of a call, and where it stands. */
  stream() {
    const call = this.call();
    const row = this.state.calls.at(call);
    const streams = (row === undefined ? undefined : bodyOf(row))?.streams ?? [];
    const known = streams.length > 0 && this.dice.isUnder(80) ? this.dice.pick(streams) : undefined;
    const { name = anyText(this.dice), attempts = [], chunks: from = 0, last: after } = known ?? {};
    const off = this.dice.isUnder(80) ? 0 : 1;
    return { call, stream: name, attempt: attempts.length + off, from, ...(after === undefined ? {} : { after }) };
  }
  tool(): string {
    return this.dice.isUnder(90) ? this.dice.pick(toolNames) : anyText(this.dice);
  }
  outbox(): string {
    const keys = this.state.outbox.keys();
    return keys.length > 0 ? this.dice.pick(keys) : anyText(this.dice);
  }
  by(): { readonly by?: string } {
    return this.dice.isUnder(50) ? { by: anyText(this.dice) } : {};
  }
}

export type Make<T extends EventType> = (names: Names) => Omit<EventOf<T>, "type">;
