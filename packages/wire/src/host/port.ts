/** The ports of a connection: what it needs of its host and of the platform. */
import type { Log, Runtime } from "@pawl/runtime";
import type { Platform } from "@pawl/runtime/driver";
import type { ClientFrame, HostFrame, Question } from "../frame/index.ts";
import type { HostLimits } from "./limits.ts";
import type { Receivers } from "./move.ts";
import type { SendTurns } from "./outgoing.ts";
import type { Secrets } from "./token.ts";

/** The clock of a host. */
export type HostClock = Pick<Platform, "now" | "later" | "nextTurn">;

/** The host's end of a client's socket, on whichever platform. */
export interface HostSocket {
  readonly isOpen: boolean;
  /** Bytes that were sent and have not left; 0 where the platform does not say. */
  readonly buffered: number;
  /** Sends a text, and calls back once it has left. */
  readonly send: (text: string, left: () => void, frame: HostFrame) => void;
  /** Closes it; a peer that does not answer is cut off after a while. */
  readonly close: (code: number, reason: string) => void;
  /** Reads no further, until `resume`. Without it each frame is taken as it comes, in one piece. */
  readonly pause?: () => void;
  readonly resume?: () => void;
  /** Called once, when the client is welcome: from then on the platform may look whether it is still there. */
  readonly welcomed: () => void;
}

/** Forwards the questions of one client to other hosts. */
export interface Forwards {
  /** Resolves with the last answer of the host at an address. */
  readonly ask: (address: string, frame: Question) => Promise<HostFrame>;
  /** Passes on what a client says of one of its questions. */
  readonly tell: (frame: Extract<ClientFrame, { readonly type: "seen" | "unobserve" }>) => void;
  readonly close: () => void;
}

export interface ConnectionPort {
  readonly runtime: Runtime;
  readonly secrets: Secrets;
  readonly limits: HostLimits;
  /** Turns of the subscriptions of all connections. */
  readonly turns: SendTurns;
  readonly log: Log;
  /** Clients that scopes can move to. */
  readonly receivers: Receivers;
  /** Returns where a scope lives that is not this host's to open; nothing for those that it may open. */
  readonly ownerOf?: (scope: string) => string | undefined;
  /** Told of each frame of the client's, before it is taken. */
  readonly heard?: (frame: ClientFrame) => void;
  /** Returns what forwards a client's questions about scopes of other hosts; without it the client is told who owns them. */
  readonly forwardsFor?: (token: string, send: (frame: HostFrame) => void) => Forwards;
}
