/** Turns as a host submits them. */
import type { EventOf } from "@pawl/sansio-core";
import type { TurnMessage, WhenBusy } from "@pawl/sansio-core/driver";
import { type Json, stringify } from "@pawl/tool-value";
import type { Platform } from "../platform.ts";

type Submitted = EventOf<"turn.submitted">;

/** Options of a turn, besides its messages. */
export interface TurnOptions {
  /** The agent that answers; without it the one that worked in the session last, at first `main`. */
  readonly agent?: string;
  /** Says what it does while another turn runs: it waits (`queue`), joins, interrupts or replaces that, or is refused. */
  readonly whenBusy?: WhenBusy;
  readonly limits?: Submitted["limits"];
  readonly output?: Submitted["output"];
  readonly executionScope?: string;
  readonly by?: string;
  readonly traceparent?: string;
}

/** The messages of a turn: a text of the user's, or messages. */
export type Said = string | readonly TurnMessage[];

const given = <K extends string, V>(key: K, value: V | undefined): { readonly [k in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [k in K]?: V };

/** Makes the event that submits a turn. The same id with another body is a conflict: its hash says so. */
export const turnSubmitted = (
  { hashText }: Pick<Platform, "hashText">,
  request: string,
  said: Said,
  options: TurnOptions,
): Submitted => {
  const { agent, whenBusy = "queue", limits, output, executionScope, by, traceparent } = options;
  const messages = typeof said === "string" ? [{ role: "user", content: said } as const] : said;
  const asked = { messages, ...given("agent", agent), ...given("limits", limits), ...given("output", output) };
  return {
    type: "turn.submitted",
    request,
    hash: hashText(stringify(asked as unknown as Json)),
    messages,
    when_busy: whenBusy,
    ...given("agent", agent),
    ...given("limits", limits),
    ...given("output", output),
    ...given("execution_scope", executionScope),
    ...given("by", by),
    ...given("traceparent", traceparent),
  };
};
