/** Commands are what the core asks of the world. They are derived, never recorded. Their duties say when to perform them. */
import type { Command } from "../concerns.ts";

export type { Command };
export type CommandType = Command["type"];
export type CommandOf<T extends CommandType> = Extract<Command, { readonly type: T }>;

/** A command that is issued again, and where in the log it was asked for. */
export interface Born {
  readonly born: number;
  readonly index: number;
  readonly command: Command;
}

export interface Duty {
  readonly performed: "at_once" | "durable" | "when_leased";
  readonly afterLoss: "again" | "counted" | "never" | "when_asked" | "until_acknowledged" | "from_the_log" | "parked";
  readonly answeredBy: string | undefined;
}

/** Performed at once, and again after a loss, until this event answers it. */
export const answered = (by: string): Duty => ({ performed: "at_once", afterLoss: "again", answeredBy: by });
/** Told to a running body, which reads it from the log when it runs again. */
export const toBody: Duty = { performed: "at_once", afterLoss: "from_the_log", answeredBy: undefined };
/** Performed when its event is durable, again and again until this event acknowledges it. */
export const untilAcked = (by: string): Duty => ({
  performed: "durable",
  afterLoss: "until_acknowledged",
  answeredBy: by,
});
/** Shown to observers, who read from the log what they have missed. */
export const observed: Duty = { performed: "durable", afterLoss: "from_the_log", answeredBy: undefined };
/** Told to a caller, who asks again. */
export const toCaller: Duty = { performed: "durable", afterLoss: "when_asked", answeredBy: undefined };
