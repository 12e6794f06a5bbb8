/**
 * How requests have ended, read from the whole log: for those whose acknowledgement does not tell, since it was recorded
 * under an older protocol. Each event is stepped once more, and the rows of requests are looked at on the way.
 */
import type { Event, State } from "@pawl/sansio-core";
import { type StatusWord, requestStatus } from "@pawl/sansio-core/driver";
import type { JournalLine } from "../journal/journal.ts";
import type { Access } from "../scope/access.ts";
import { recordedIn, stateAfter, turnAfter } from "../scope/history.ts";

/** How a request has ended, and when; and when it was submitted, by which event. */
export interface RequestEnd {
  readonly state: StatusWord;
  readonly at: number;
  readonly createdAt: number;
  readonly seq: number;
}

/** Says which lines may be submissions, before any of them is decoded. */
export const mayBeSubmission = ({ line }: JournalLine): boolean => /"(?:request|flow|turn)\.submitted"/.test(line);

/** Returns the request that an event submits. */
export const submittedBy = (event: Event): string | undefined =>
  event.type === "request.submitted" || event.type === "flow.submitted" || event.type === "turn.submitted"
    ? event.request
    : undefined;

/** Follows the log from its beginning, and notes the ends of requests. */
class Ends {
  readonly found = new Map<string, RequestEnd>();
  readonly #submitted = new Map<string, Pick<RequestEnd, "createdAt" | "seq">>();
  #state: State;

  constructor(begun: State) {
    this.#state = begun;
    for (const { request, born: seq } of begun.requests.rows()) {
      this.#submitted.set(request, { seq, createdAt: begun.at });
      this.#note(request, begun.at); // The request may have its reply by then.
    }
  }

  /** Takes the next line, unless it is part of the state that the log begins with. */
  take(scope: string, line: JournalLine): void {
    if (line.seq <= this.#state.seq) return;
    const before = this.#state;
    const recorded = recordedIn(scope, line);
    this.#state = stateAfter(scope, before, recorded, line.seq);
    const { at, event } = recorded;
    const submitted = submittedBy(event);
    if (submitted !== undefined) this.#submitted.set(submitted, { seq: line.seq, createdAt: at });
    for (const key of this.#state.requests.changedSince(before.requests)) this.#note(key, at);
  }

  #note(request: string, at: number): void {
    const row = this.#state.requests.at(request);
    const submitted = this.#submitted.get(request);
    if (submitted === undefined || row?.phase !== "replying" || this.found.has(request)) return;
    this.found.set(request, { ...submitted, state: requestStatus(this.#state, row).state, at });
  }
}

/** Reads the ends of the requests in the log. The scope's own work goes on in between. */
export const endsInLog = async (access: Access): Promise<ReadonlyMap<string, RequestEnd>> => {
  const { id } = access.runner;
  const lines = await access.readLines(1);
  const ends = new Ends(await access.begun());
  for (const line of lines) {
    ends.take(id, line);
    await turnAfter(access.platform, line.seq);
  }
  return ends.found;
};
