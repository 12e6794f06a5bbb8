/**
 * A signal is what one concern tells another within a step. Concerns never call each other: they raise signals, and
 * `machine.ts` routes them. Each concern declares the signals that it hears, and which ones its handlers may raise.
 */
import type { Signal } from "../concerns.ts";

export type { Signal };
export type SignalType = Signal["type"];
export type SignalOf<T extends SignalType> = Extract<Signal, { readonly type: T }>;
