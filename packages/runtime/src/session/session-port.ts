/** What a session needs of the runtime around it. */
import type { Finished, State } from "@pawl/sansio-core";
import type { Admission } from "./admission.ts";
import type { AttachmentStore } from "../journal/attachment.ts";
import type { Patience } from "../body/stop.ts";
import type { BackgroundOptions } from "../process/host.ts";
import type { Places } from "../process/run/background.ts";
import type { Glimpse } from "../process/run/session-work.ts";
import type { Executors } from "./executor/executor.ts";
import type { Shutdown } from "../lifecycle/shutdown.ts";
import type { HostPort, HostRequest } from "../host/host-request.ts";
import type { Journal, JournalLine } from "../journal/journal.ts";
import type { Fault } from "../scope/deferred-event.ts";
import type { LiveTool } from "../tool/live-tool.ts";
import type { Ephemeral } from "./observe/observation.ts";
import type { Opened } from "../scope/load-scope.ts";
import type { Platform } from "../platform.ts";
import type { Callers } from "./request.ts";
import type { ScopeClock } from "../scope/clock.ts";
import type { Session } from "./session.ts";
import type { Telemetry } from "../log.ts";
import type { ScopeSecret } from "../scope/token-check.ts";
import type { Roots } from "../scope/token.ts";
import type { SnapshotPort } from "../scope/snapshots.ts";
import type { Member } from "../scope/commit-loop.ts";
import type { Values } from "../scope/values.ts";

export interface SessionPort {
  readonly platform: Platform;
  readonly clock: ScopeClock;
  /** Tells the host what is wrong with it, and with nobody's call. */
  readonly fault: Fault;
  /** Its large values. */
  readonly values: Values;
  readonly owner: string;
  readonly roots: Roots;
  /** Of a scope that came from elsewhere: what its wait keys were signed with there. */
  readonly secrets: () => Promise<readonly ScopeSecret[]>;
  readonly executors: Executors;
  readonly patience: Patience;
  readonly host: HostPort;
  readonly telemetry: Telemetry | undefined;
  readonly attachments: AttachmentStore;
  readonly tool: (id: string) => LiveTool | undefined;
  readonly schedule: (member: Member) => void;
  readonly isLeased: () => boolean;
  readonly hasLapsed: () => boolean;
  readonly readLines: (from: number, to?: number) => Promise<readonly JournalLine[]>;
  readonly admission: Admission;
  /** Letters to this scope are durable. */
  readonly sent: (to: string) => void;
  /** What lies in the scope's inbox. */
  readonly messages: () => ReturnType<Journal["inbox"]>;
  readonly places: Places;
  readonly background: BackgroundOptions;
  /** Another scope as it stands, without owning it. */
  readonly glimpse: (scope: string) => Promise<Glimpse>;
  /** Shows to those who watch another scope, if it is in memory. */
  readonly showIn: (scope: string, observation: Ephemeral) => void;
  readonly find: (kind: Finished["kind"], id: string) => Promise<number | undefined>;
  /** Those who waited for replies when the scope left memory. */
  readonly callers: Callers;
  /** Where the log begins: with nothing, or with what retention left. */
  readonly begun: () => Promise<State>;
  /** What it was opened from. */
  readonly opened: Omit<Opened, "state">;
  readonly snapshots: Omit<SnapshotPort, "platform" | "fault" | "taken">;
  /** The scope is at rest. */
  readonly rest: (session: Session) => void;
  readonly shutdown: Shutdown;
  /** The session of this scope that is in memory now. */
  readonly reopen: () => Promise<Session>;
  readonly lost: () => void;
}

export interface BodiesPort extends SessionPort {
  /** Asks the host for what a body waits for, unless it is at it. */
  readonly askHost: (request: HostRequest) => void;
}
