/**
 * One runtime of one process, as each of its scopes sees it. Built once; every scope in memory holds the same object.
 *
 * A scope is an island: its log, its state and its bodies are nobody else's. It shares four things with the others.
 *
 *   time       one platform, with one heap of alarms in place of a timer for each deadline.
 *   the disk   one commit loop. `schedule` asks for a turn; all scopes that had one share the sync of the next commit.
 *   ownership  one lease, under one name (`owner`). Two questions about it differ while the lease is in doubt:
 *                isLeased   it surely holds now: an idempotent step may run before its request is durable.
 *                hasLapsed  there is a lease, and it may have run out: another instance may own the scope by now, so
 *                           nothing more may be done for it outside, and the scope is abandoned.
 *              Both are false without a lease: nobody else claims, and nothing runs ahead of its event.
 *   bounds     one admission (requests), one set of places (background runs), one list of executors.
 *
 * Scopes reach each other by name only, through their inboxes: `sent` comes after the commit that holds the message,
 * never before, so that a receiver who looks at once finds it. `open` resolves to the session that is in memory by then;
 * a session that has left memory uses it to find its successor. `atRest` and `lost` go the other way: they tell the
 * runtime that a scope may leave memory, and that it has to.
 */
import type { Admission } from "./admission.ts";
import type { Executors } from "./executor/executor.ts";
import type { LogPages } from "./observe/log-page.ts";
import type { Ephemeral } from "./observe/observation.ts";
import type { Session } from "./session.ts";
import type { Patience } from "../body/body-end.ts";
import type { HostRequests } from "../host/host-request.ts";
import type { CrashTurns } from "../lifecycle/crash-turn.ts";
import type { Shutdown } from "../lifecycle/lease.ts";
import type { Journal } from "../journal/journal.ts";
import type { Platform } from "../platform.ts";
import type { Places } from "../process/run/background.ts";
import type { QueueDoor } from "../queue/door.ts";
import type { Glimpse } from "../process/run/session-work.ts";
import type { Member } from "../commit/commit-loop.ts";
import type { Telemetry } from "../log.ts";
import type { ModelPlaces } from "../turn/pace.ts";

export interface Instance {
  /** Its name as the owner of scopes, as it is in their logs. */
  readonly owner: string;
  readonly platform: Platform;
  readonly telemetry: Telemetry | undefined;
  /** How long a body may be quiet before it is suspended. */
  readonly patience: Patience;
  readonly admission: Admission;
  /** Pages of logs that are followed. */
  readonly pages: LogPages;
  readonly executors: Executors;
  /** Requests of bodies that are with the host. */
  readonly hostRequests: HostRequests;
  /** Places for background runs on this worker. */
  readonly places: Places;
  /** Places for attempts to ask a model. */
  readonly models: ModelPlaces;
  /** Turns of calls that crash again and again. */
  readonly crashTurns: CrashTurns;
  /** Calls that wait for places in queues, and those that have one. */
  readonly queues: QueueDoor;
  readonly shutdown: Shutdown;

  /** Asks for a turn in the commit loop. */
  readonly schedule: (member: Member) => void;
  readonly isLeased: () => boolean;
  readonly hasLapsed: () => boolean;

  /** Returns the session that is in memory under this name now, and opens it where there is none. */
  readonly open: (scope: string) => Promise<Session>;
  /** Messages to this scope are durable: its inbox is to be looked into. */
  readonly sent: (to: string) => void;
  /** Reads the state of a scope without owning it. */
  readonly glimpse: (scope: string) => Promise<Glimpse>;
  /** Lists scopes whose names begin so, and that wait for a person. */
  readonly awaiting: Journal["awaitingApproval"];
  readonly isStored: (scope: string) => Promise<boolean>;
  /** Shows an observation to those who watch another scope, if it is in memory. */
  readonly showIn: (scope: string, observation: Ephemeral) => void;
  /** Takes note that a scope has nothing to do, and may leave memory. */
  readonly atRest: (session: Session) => void;
  /** Takes note that a scope was abandoned: whoever asks for it next gets a new session. */
  readonly lost: (session: Session) => void;
}
