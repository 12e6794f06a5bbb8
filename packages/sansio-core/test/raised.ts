/** Watches what each signal's handler raises. */
import { Draft } from "../src/kernel/draft.ts";
import type { Signal, SignalType } from "../src/kernel/vocabulary.ts";
import { raises } from "../src/machine.ts";

/** From now on: what was raised that the routing graph does not say, in the order raised. */
export const strayRaises = (): string[] => {
  const strays: string[] = [];
  const current = new WeakMap<Draft, SignalType>();
  const { nextSignal, raise } = Draft.prototype;
  Draft.prototype.nextSignal = function next(this: Draft): Signal | undefined {
    const signal = nextSignal.call(this);
    if (signal === undefined) current.delete(this);
    else current.set(this, signal.type);
    return signal;
  };
  Draft.prototype.raise = function watched(this: Draft, signal: Signal): void {
    const by = current.get(this);
    if (by !== undefined && !raises[by].includes(signal.type)) strays.push(`${by} raised ${signal.type}`);
    raise.call(this, signal);
  };
  return strays;
};
