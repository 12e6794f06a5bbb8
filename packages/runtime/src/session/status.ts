/**
 * The status of requests, and their list. What a request of the state waits for is read off the state; how an acknowledged one
 * has ended is read off its acknowledgement, which the finished index names. Times are those of events: of the submission, of
 * the event since which it is so, and of the newest event of the request.
 *
 * The list looks for submissions page by page, and stops when it has enough: a page costs the lines between its requests.
 */
import type { Event, State } from "@pawl/sansio-core";
import { type StatusWord, type WaitsFor, requestStatus } from "@pawl/sansio-core/driver";
import { type Codec, type Fields, named, oneOf, optional, record, string, u64 } from "@pawl/tool-value";
import { Refused } from "../error.ts";
import type { Access } from "../scope/access.ts";
import { recordedIn, turn } from "../scope/history.ts";
import { LogLines, lastOf } from "./newest-event.ts";
import { type RequestEnd, endsInLog, mayBeSubmission, submittedBy } from "./ends-in-log.ts";

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

/** The fields of a status, as the wire carries them. */
export const statusFields: Fields<Pick<RequestStatus, "state" | "waitsFor" | "until">> = {
  state: oneOf<StatusWord>("a status", "working", "waiting", "unknown", "done", "failed", "cancelled"),
  waitsFor: named(
    "waits_for",
    optional(oneOf<WaitsFor>("what is waited for", "person", "outside", "time", "executor", "model", "budget")),
  ),
  until: optional(u64),
};

export const RequestStatus: Codec<RequestStatus> = record<RequestStatus>("RequestStatus", {
  request: string,
  ...statusFields,
  since: u64,
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

/** A request that was submitted by an event. */
interface Submitted {
  readonly request: string;
  readonly seq: number;
}

/** Returns the status of a request that is in the state: nothing but a few lines of the log is read. */
const statusOfLive = async (lines: LogLines, state: State, request: string): Promise<RequestStatus | undefined> => {
  const row = state.requests.at(request);
  if (row === undefined) return undefined;
  const { since = row.born, ...status } = requestStatus(state, row);
  const createdAt = await lines.timeOf(row.born);
  const updatedAt = await lines.access.newest.of(lines, request, row.born);
  const isOver = row.phase === "replying";
  const sinceAt = isOver ? updatedAt : await lines.timeOf(since);
  return { request, ...status, since: sinceAt, createdAt, updatedAt, seq: row.born };
};

/** The ends of requests whose acknowledgement does not tell them. The log is read for that once for an answer. */
class OlderEnds {
  readonly #access: Access;
  #read: Promise<ReadonlyMap<string, RequestEnd>> | undefined;

  constructor(access: Access) {
    this.#access = access;
  }

  async of(request: string): Promise<RequestEnd | undefined> {
    this.#read ??= endsInLog(this.#access);
    return (await this.#read).get(request);
  }
}

/** Returns the status of a request that was acknowledged by an event. */
const statusOfEnded = async (
  lines: LogLines,
  older: OlderEnds,
  request: string,
  acked: number,
): Promise<RequestStatus | undefined> => {
  const [line] = await lines.between(acked, acked);
  const event: Event | undefined = line && recordedIn(lines.access.runner.id, line).event;
  if (event?.type !== "reply.acked" || event.born === undefined) {
    const end = await older.of(request);
    return (
      end && { request, state: end.state, since: end.at, createdAt: end.createdAt, updatedAt: end.at, seq: end.seq }
    );
  }
  const { born, ended = "done" } = event;
  const createdAt = await lines.timeOf(born);
  const at = (await lastOf(lines, request, born, acked - 1)) ?? createdAt;
  return { request, state: ended, since: at, createdAt, updatedAt: at, seq: born };
};

const unknownRequest = (request: string): Refused => new Refused("request_unknown", `no request \`${request}\``);

/** Returns the status of a request, also of one that was acknowledged. */
export const statusOf = async (access: Access, request: string): Promise<RequestStatus> => {
  const { state } = access.runner;
  await access.runner.whenDurable();
  const lines = new LogLines(access);
  const live = await statusOfLive(lines, state, request);
  if (live !== undefined) return live;
  const acked = await access.finished.find("request", request);
  if (acked === undefined) throw unknownRequest(request);
  const ended = await statusOfEnded(lines, new OlderEnds(access), request, acked);
  if (ended === undefined) throw new Refused("gone", `request \`${request}\` is past the log's retention`);
  return ended;
};

const linesAtOnce = 1024;

/** Yields the requests that were submitted after an event: those that the log begins with, then page by page. */
async function* submittedAfter(lines: LogLines, after: number, end: number): AsyncGenerator<Submitted> {
  const { runner, platform, begun: begins } = lines.access;
  const begun = await begins();
  for (const { request, born: seq } of begun.requests.rows().toSorted((a, b) => a.born - b.born))
    if (seq > after) yield { request, seq };
  for (let from = Math.max(after, begun.seq) + 1; from <= end; from += linesAtOnce) {
    for (const line of await lines.between(from, Math.min(end, from + linesAtOnce - 1))) {
      const request = mayBeSubmission(line) ? submittedBy(recordedIn(runner.id, line).event) : undefined;
      if (request !== undefined) yield { request, seq: line.seq };
    }
    await turn(platform);
  }
}

/** Lists the requests of a scope by their submission, those that were acknowledged included. */
export const requestsOf = async (
  access: Access,
  { after = 0, limit = 100 }: RequestPage,
): Promise<readonly RequestStatus[]> => {
  const { state } = access.runner;
  await access.runner.whenDurable();
  const most = Math.min(limit, mostListed);
  const older = new OlderEnds(access);
  const lines = new LogLines(access);
  const listed: RequestStatus[] = [];
  if (most <= 0) return listed;
  for await (const { request } of submittedAfter(lines, after, state.seq)) {
    const acked = state.requests.at(request) === undefined ? await access.finished.find("request", request) : undefined;
    const status =
      acked === undefined
        ? await statusOfLive(lines, state, request)
        : await statusOfEnded(lines, older, request, acked);
    if (status !== undefined) listed.push(status);
    if (listed.length >= most) break;
  }
  return listed;
};
