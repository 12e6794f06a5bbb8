/** What a session needs of the runtime around it. */
import type { Finished } from "@pawl/sansio-core";
import type { AttachmentStore } from "./attachment.ts";
import type { Patience } from "./body.ts";
import type { BackgroundOptions } from "./background/host.ts";
import type { Places } from "./background/place.ts";
import type { Glimpse } from "./background/session-work.ts";
import type { Executors } from "./executor.ts";
import type { HostPort } from "./host-request.ts";
import type { Journal, JournalLine } from "./journal.ts";
import type { LiveTool } from "./live-tool.ts";
import type { Post } from "./link-post.ts";
import type { Ephemeral } from "./observation.ts";
import type { Platform } from "./platform.ts";
import type { Callers } from "./request.ts";
import type { Session } from "./session.ts";
import type { Roots, ScopeSecret } from "./token.ts";
import type { Member } from "./turn-loop.ts";

export interface SessionPort {
  readonly platform: Platform;
  readonly owner: string;
  readonly roots: Roots;
  /** Of a scope that came from elsewhere: what its wait keys were signed with there. */
  readonly secrets: () => Promise<readonly ScopeSecret[]>;
  readonly executors: Executors;
  readonly patience: Patience;
  readonly host: HostPort;
  readonly attachments: AttachmentStore;
  readonly tool: (id: string) => LiveTool | undefined;
  readonly stir: (member: Member) => void;
  readonly isLeased: () => boolean;
  readonly hasLapsed: () => boolean;
  readonly readLines: (from: number, to?: number) => Promise<readonly JournalLine[]>;
  readonly post: Post;
  readonly places: Places;
  readonly background: BackgroundOptions;
  /** Another scope as it stands, without owning it. */
  readonly glimpse: (scope: string) => Promise<Glimpse>;
  /** Shows to those who watch another scope, if it is in memory. */
  readonly showIn: (scope: string, observation: Ephemeral) => void;
  readonly find: (kind: Finished["kind"], id: string) => Promise<number | undefined>;
  /** Those who waited for replies when the scope left memory. */
  readonly callers: Callers;
  /** Of the snapshot that it was opened from, in characters. */
  readonly snapshotSize: number;
  readonly keepSnapshot: (seq: number, text: string) => ReturnType<Journal["snapshot"]>;
  /** The scope is at rest. */
  readonly rest: (session: Session) => void;
  /** The session of this scope that is in memory now. */
  readonly reopen: () => Promise<Session>;
  readonly lost: () => void;
}
