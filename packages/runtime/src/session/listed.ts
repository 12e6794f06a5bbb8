/**
 * The sessions of the store, as people look for them: by name, with title, tags, and what each is at. Nothing is claimed
 * for that: a session that is not in memory here is read from its log. What was read is kept until its log has grown.
 */
import type { State } from "@pawl/sansio-core";
import { type Status, type StatusWord, type WaitsFor, requestStatus, scopeStatus } from "@pawl/sansio-core/driver";
import { type Codec, array, named, optional, record, string, u64 } from "@pawl/tool-value";
import { errorOf } from "../error.ts";
import type { Journal, ScopeEntry } from "../journal/journal.ts";
import { openState } from "../scope/open-scope.ts";
import { aboutOf } from "../host/about.ts";
import type { Session } from "./session.ts";
import { statusFields } from "./status.ts";

/** The state of a session, in the words of its requests' status. */
export interface SessionStatus {
  readonly state: StatusWord;
  readonly waitsFor?: WaitsFor;
  /** Time at which waiting ends by itself. */
  readonly until?: number;
}

/** A session in a list. */
export interface SessionEntry {
  readonly session: string;
  readonly title?: string;
  readonly tags: readonly string[];
  /** Absent where its log could not be read: then `problem` has the code of the error. */
  readonly status?: SessionStatus;
  readonly problem?: string;
  /** Time of its last event. */
  readonly updatedAt: number;
  /** Where it lives, if another instance has it that can be reached. */
  readonly address?: string;
}

export const SessionStatus: Codec<SessionStatus> = record<SessionStatus>("SessionStatus", statusFields);

export const SessionEntry: Codec<SessionEntry> = record<SessionEntry>("SessionEntry", {
  session: string,
  title: optional(string),
  tags: array(string),
  status: optional(SessionStatus),
  problem: optional(string),
  updatedAt: named("updated_at", u64),
  address: optional(string),
});

/** A page of sessions: those whose names begin with `prefix`, after the session `after`. */
export interface SessionPage {
  readonly prefix?: string;
  readonly after?: string;
  readonly limit?: number;
}

const kind = "session:";

/** Returns how the newest request has ended whose replies are kept. */
const lastEnd = (state: State): Status | undefined => {
  const ended = state.requests.rows().filter(({ phase }) => phase === "replying");
  const newest = ended.reduce<(typeof ended)[number] | undefined>(
    (best, row) => (best === undefined || row.born > best.born ? row : best),
    undefined,
  );
  return newest && requestStatus(state, newest);
};

/** Returns what a session is at: as its live requests are or, without any, as the newest has ended whose replies are kept. */
export const sessionStatus = (state: State): SessionStatus => {
  const live = scopeStatus(state);
  const { since: _, ...status } = live.state === "done" ? (lastEnd(state) ?? live) : live;
  return status;
};

type Read = Pick<SessionEntry, "title" | "tags" | "status" | "problem" | "updatedAt">;

const readOf = (state: State): Read => ({ ...aboutOf(state), status: sessionStatus(state), updatedAt: state.at });

/** Summaries that are kept; of the sessions beyond, those that were read first are forgotten. */
const mostKept = 10_000;

/** Lists the sessions of one store. */
export class SessionList {
  readonly #journal: Journal;
  readonly #open: (scope: string) => Promise<Session> | undefined;
  readonly #kept = new Map<string, { readonly seq: number; readonly read: Read }>();

  constructor(journal: Journal, open: (scope: string) => Promise<Session> | undefined) {
    this.#journal = journal;
    this.#open = open;
  }

  async page({ prefix = "", after = "", limit = 100 }: SessionPage): Promise<readonly SessionEntry[]> {
    const found = await this.#journal.scopes(`${kind}${prefix}`, after === "" ? "" : `${kind}${after}`, limit);
    const listed: SessionEntry[] = [];
    for (const entry of found) listed.push(await this.#entry(entry));
    return listed;
  }

  async #entry(entry: ScopeEntry): Promise<SessionEntry> {
    const read = await this.#read(entry);
    const address = entry.held?.address;
    const isHere = this.#open(entry.scope) !== undefined;
    const session = entry.scope.slice(kind.length);
    return { session, ...read, ...(address === undefined || isHere ? {} : { address }) };
  }

  async #read({ scope, seq }: ScopeEntry): Promise<Read> {
    const session = await this.#open(scope)?.catch(() => undefined); // Could not be opened: its log is read.
    if (session !== undefined && !session.runner.isAbandoned) return readOf(session.runner.durable);
    const kept = this.#kept.get(scope);
    if (kept?.seq === seq) return kept.read;
    const read = await this.#fromLog(scope);
    this.#kept.delete(scope);
    this.#kept.set(scope, { seq, read });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    return read;
  }

  async #fromLog(scope: string): Promise<Read> {
    try {
      return readOf((await openState(this.#journal, scope, {}, () => undefined)).state);
    } catch (thrown) {
      const error = errorOf(thrown);
      const problem = "code" in error && typeof error.code === "string" ? error.code : "unreadable";
      return { tags: [], problem, updatedAt: 0 };
    }
  }
}
