/**
 * The status of requests, and their list. What a request of the state waits for is read off the state; how an acknowledged one
 * has ended is read from the log, since it has left the state. Times are those of events: of the submission, of the event
 * since which it is so, and of the newest event of the request.
 */
import { type State, callRef } from "@pawl/sansio-core";
import { type Status, type StatusWord, type WaitsFor, requestStatus } from "@pawl/sansio-core/driver";
import { type Codec, named, oneOf, optional, record, string, u64 } from "@pawl/tool-value";
import { Refused } from "../error.ts";
import type { JournalLine } from "../journal/journal.ts";
import type { Access } from "../scope/access.ts";
import { recordedIn, stateAfter, turnAfter } from "../scope/history.ts";

/** The status of a request, as people read it. */
export interface RequestStatus {
  readonly request: string;
  readonly state: StatusWord;
  /** Set where the request is `waiting` or `unknown`: names what it waits for. */
  readonly waitsFor?: WaitsFor;
  /** Time since which it is so. */
  readonly since: number;
  /** Time at which waiting ends by itself. */
  readonly until?: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The event that submitted it: the cursor of the list. */
  readonly seq: number;
}

const words = ["working", "waiting", "unknown", "done", "failed", "cancelled"] as const;
const waits = ["person", "outside", "time", "executor", "model", "budget"] as const;
export const RequestStatus: Codec<RequestStatus> = record<RequestStatus>("RequestStatus", {
  request: string,
  state: oneOf<StatusWord>("a status", ...words),
  waitsFor: named("waits_for", optional(oneOf<WaitsFor>("what is waited for", ...waits))),
  since: u64,
  until: optional(u64),
  createdAt: named("created_at", u64),
  updatedAt: named("updated_at", u64),
  seq: u64,
});

/** A page of requests: those that were submitted after an event, oldest first. */
export interface RequestPage {
  readonly after?: number;
  readonly limit?: number;
}
const mostListed = 1000;

/** A request as it is found in the log. */
interface Found {
  readonly request: string;
  readonly seq: number;
  readonly createdAt: number;
  updatedAt: number;
  /** How it has ended, and when. */
  ended?: Status & { readonly at: number };
}

/** Returns whether a line names a request, or a call of it, which begins with its name. */
const concerns = ({ line }: JournalLine, request: string): boolean =>
  line.includes(JSON.stringify(request)) || line.includes(JSON.stringify(callRef(request, "")).slice(0, -1));

/** Follows the log from its beginning, and notes requests: when they were submitted, and how they have ended. */
class RequestLog {
  readonly found = new Map<string, Found>();
  #state: State;

  constructor(begun: State) {
    this.#state = begun;
    for (const { request, born: seq } of begun.requests.rows())
      this.#begin({ request, seq, createdAt: begun.at, updatedAt: begun.at });
  }

  /** Notes a request. One that had its reply when the log begins has ended by then. */
  #begin(found: Found): void {
    this.found.set(found.request, found);
    this.#note(found.request, found.createdAt);
  }

  /** Takes the next line, unless it is part of the state that the log begins with. */
  take(scope: string, line: JournalLine): void {
    if (line.seq <= this.#state.seq) return;
    const before = this.#state;
    const recorded = recordedIn(scope, line);
    this.#state = stateAfter(scope, before, recorded, line.seq);
    const { at, event } = recorded;
    if (event.type === "request.submitted" || event.type === "flow.submitted" || event.type === "turn.submitted")
      this.#begin({ request: event.request, seq: line.seq, createdAt: at, updatedAt: at });
    for (const key of this.#state.requests.changedSince(before.requests)) this.#note(key, at);
  }

  /** Notes the end of a request that has come to its reply with this event. */
  #note(request: string, at: number): void {
    const row = this.#state.requests.at(request);
    const found = this.found.get(request);
    if (found === undefined || row?.phase !== "replying" || found.ended !== undefined) return;
    found.ended = { ...requestStatus(this.#state, row), at };
    found.updatedAt = at;
  }
}

/** Reads the requests of the log. The scope's own work goes on in between. */
const requestsOfLog = async (access: Access): Promise<ReadonlyMap<string, Found>> => {
  const { id } = access.runner;
  const lines = await access.readLines(1);
  const log = new RequestLog(await access.begun());
  for (const line of lines) {
    log.take(id, line);
    await turnAfter(access.platform, line.seq);
  }
  return log.found;
};

/** Returns the time of an event, or of the first that the log still has. */
const timeOf = async ({ runner, readLines }: Access, seq: number): Promise<number> => {
  const [line] = await readLines(seq, seq);
  return line === undefined ? 0 : recordedIn(runner.id, line).at;
};

const linesPerPage = 500;

/** Returns the time of the newest event of a request, which was submitted by event `from`. */
const newestOf = async (access: Access, request: string, from: number): Promise<number> => {
  const { runner, readLines } = access;
  for (let to = runner.durable.seq; to > from; to -= linesPerPage) {
    const lines = await readLines(Math.max(from, to - linesPerPage + 1), to);
    const line = lines.findLast((one) => concerns(one, request));
    if (line !== undefined) return recordedIn(runner.id, line).at;
  }
  return timeOf(access, from);
};

/** Returns the status of a request that is in the state: nothing but a few lines of the log is read. */
const statusOfLive = async (access: Access, state: State, request: string): Promise<RequestStatus | undefined> => {
  const row = state.requests.at(request);
  if (row === undefined) return undefined;
  const { since = row.born, ...status } = requestStatus(state, row);
  const [createdAt, updatedAt] = [await timeOf(access, row.born), await newestOf(access, request, row.born)];
  const isOver = row.phase === "replying";
  const sinceAt = isOver ? updatedAt : await timeOf(access, since);
  return { request, ...status, since: sinceAt, createdAt, updatedAt, seq: row.born };
};

const statusOfEnded = ({
  ended,
  ...found
}: Found & { readonly ended: Status & { readonly at: number } }): RequestStatus => ({
  ...found,
  state: ended.state,
  since: ended.at,
});

const unknownRequest = (request: string): Refused => new Refused("request_unknown", `no request \`${request}\``);

/** Returns the status of a request, also of one that was acknowledged. */
export const statusOf = async (access: Access, request: string): Promise<RequestStatus> => {
  const { state } = access.runner;
  await access.runner.whenDurable();
  const live = await statusOfLive(access, state, request);
  if (live !== undefined) return live;
  if ((await access.finished.find("request", request)) === undefined) throw unknownRequest(request);
  const found = (await requestsOfLog(access)).get(request);
  if (found?.ended === undefined) throw new Refused("gone", `request \`${request}\` is past the log's retention`);
  return statusOfEnded({ ...found, ended: found.ended });
};

/** Lists the requests of a scope by their submission, those that were acknowledged included. */
export const requestsOf = async (
  access: Access,
  { after = 0, limit = 100 }: RequestPage,
): Promise<readonly RequestStatus[]> => {
  const { state } = access.runner;
  await access.runner.whenDurable();
  const found = [...(await requestsOfLog(access)).values()].filter(({ seq }) => seq > after);
  const page = found.slice(0, Math.min(limit, mostListed));
  const listed: RequestStatus[] = [];
  for (const one of page) {
    const live = one.ended === undefined ? await statusOfLive(access, state, one.request) : undefined;
    if (live !== undefined) listed.push(live);
    else if (one.ended !== undefined) listed.push(statusOfEnded({ ...one, ended: one.ended }));
  }
  return listed;
};
