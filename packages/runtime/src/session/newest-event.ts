/**
 * Lines of a log as the status of requests reads them: each page once for an answer, however many requests it is of. And the
 * newest event of a request, found from the end by the names of the request and of its calls. How far the log was searched for
 * a live request stays known, so that the next search looks at newer lines alone.
 */
import { callRef } from "@pawl/sansio-core";
import type { JournalLine } from "../journal/journal.ts";
import type { Access } from "../scope/access.ts";
import { recordedIn, turn } from "../scope/history.ts";

const linesOfPage = 32;
const pageOf = (seq: number): number => Math.floor((seq - 1) / linesOfPage);

/** Lines that were read for one answer. */
export class LogLines {
  readonly access: Access;
  readonly #lines = new Map<number, JournalLine>();
  readonly #pages = new Set<number>();

  constructor(access: Access) {
    this.access = access;
  }

  /** Returns the lines from one event up to another that the log still has. */
  async between(from: number, to: number): Promise<readonly JournalLine[]> {
    await this.#read(from, to);
    const found: JournalLine[] = [];
    for (let seq = from; seq <= to; seq += 1) {
      const line = this.#lines.get(seq);
      if (line !== undefined) found.push(line);
    }
    return found;
  }

  async #read(from: number, to: number): Promise<void> {
    const missing: number[] = [];
    for (let page = pageOf(from); page <= pageOf(to); page += 1) if (!this.#pages.has(page)) missing.push(page);
    const [first, last] = [missing[0], missing.at(-1)];
    if (first === undefined || last === undefined) return;
    for (const line of await this.access.readLines(first * linesOfPage + 1, (last + 1) * linesOfPage))
      this.#lines.set(line.seq, line);
    for (const page of missing) this.#pages.add(page);
  }

  /** Returns the time of an event, or of the first that the log still has. */
  async timeOf(seq: number): Promise<number> {
    const [line] = await this.between(seq, seq);
    return line === undefined ? (await this.access.begun()).at : recordedIn(this.access.runner.id, line).at;
  }
}

/** Says whether a line names a request, or a call of it, which begins with its name. */
const concerns = ({ line }: JournalLine, request: string): boolean =>
  line.includes(JSON.stringify(request)) || line.includes(JSON.stringify(callRef(request, "")).slice(0, -1));

/** The newest event is mostly among the first lines that are looked at. */
const mostAtOnce = 32 * linesOfPage;

/** Returns the time of the newest event of a request among these; undefined where there is none. */
export const lastOf = async (
  lines: LogLines,
  request: string,
  from: number,
  to: number,
): Promise<number | undefined> => {
  const { runner, platform } = lines.access;
  let size = linesOfPage;
  for (let end = to; end >= from; end -= size, size = Math.min(size * 2, mostAtOnce)) {
    const line = (await lines.between(Math.max(from, end - size + 1), end)).findLast((one) => concerns(one, request));
    if (line !== undefined) return recordedIn(runner.id, line).at;
    if (size === mostAtOnce) await turn(platform);
  }
  return undefined;
};

interface Known {
  /** The event up to which the log was searched. */
  readonly to: number;
  readonly at: number;
}

/** The newest events of live requests of a scope, as far as somebody has asked. */
export class NewestEvents {
  readonly #known = new Map<string, Known>();

  /** Returns the time of the newest event of a live request, which was submitted by event `born`. */
  async of(lines: LogLines, request: string, born: number): Promise<number> {
    const { durable, state } = lines.access.runner;
    const known = this.#known.get(request);
    const found = await lastOf(lines, request, known === undefined ? born : known.to + 1, durable.seq);
    const at = found ?? known?.at ?? (await lines.timeOf(born));
    if (state.requests.at(request)?.phase === "running") this.#known.set(request, { to: durable.seq, at });
    this.#forgetEnded(state);
    return at;
  }

  #forgetEnded({ requests }: Access["runner"]["state"]): void {
    if (this.#known.size <= requests.size) return;
    for (const request of this.#known.keys()) if (requests.at(request) === undefined) this.#known.delete(request);
  }
}
