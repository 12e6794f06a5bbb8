/** What the interpreter of one scope needs. */
import type { Command, Finished, State } from "@pawl/sansio-core";
import type { Fault } from "./deferred-event.ts";
import type { Platform } from "../platform.ts";
import type { ScopeClock } from "./clock.ts";
import type { Cause } from "./uncommitted.ts";
import type { Member } from "./commit-loop.ts";
import type { Values } from "./values.ts";

/** What a scope needs of the runtime around it. */
export interface ScopePort extends Pick<Member, "deliver" | "news"> {
  readonly platform: Platform;
  /** Its own time. */
  readonly clock: ScopeClock;
  readonly values: Values;
  readonly fault: Fault;
  /** The scope is to have a turn. */
  readonly schedule: (member: Member) => void;
  /** Whether this instance surely still holds its lease. */
  readonly isLeased: () => boolean;
  /** Whether it had a lease that may have run out: then the scope may be another's, and nothing more is done. */
  readonly hasLapsed: () => boolean;
  /** What has just been stepped: what ends a body ends it before the next turn. */
  readonly stepped: (cause: Cause, commands: readonly Command[], finished: readonly Finished[]) => void;
  readonly perform: (command: Command, cause: Cause) => void;
  /** Letters to this scope are durable. */
  readonly sent: (to: string) => void;
  /** This state is durable now, with so many characters of events. */
  readonly durable: (state: State, characters: number) => void;
  /** All that was stepped is durable, and nothing is to be delivered. */
  readonly rest: () => void;
  readonly lost: (why: string) => void;
}
