/** Follows the log of a scope from any tab: reads it from the database, again whenever a broadcast announces news. */
import type { Recorded } from "@pawl/sansio-core";
import { type Journal, Refused } from "@pawl/runtime";
import { recordedIn } from "@pawl/runtime/driver";
import type { TabMessage } from "./message.ts";

/** Limits the lines of one read. */
const chunk = 500;

/** A source of broadcasts. */
interface Heard {
  readonly hear: (hearer: (message: TabMessage) => void) => void;
}

interface Waiter {
  readonly scope: string;
  readonly wake: () => void;
}

/** Counts the news of each scope. A beat counts as news of all scopes: some announcements may have been lost. */
export class News {
  readonly #waiters = new Set<Waiter>();
  readonly #counts = new Map<string, number>();
  #beats = 0;

  constructor(channel: Heard) {
    channel.hear((message) => {
      if (message.type === "appended") this.#told(message.scope);
      if (message.type === "beat") this.wakeAll();
    });
  }

  count(scope: string): number {
    return this.#beats + (this.#counts.get(scope) ?? 0);
  }

  #told(scope: string): void {
    this.#counts.set(scope, (this.#counts.get(scope) ?? 0) + 1);
    this.#wake((waiter) => waiter.scope === scope);
  }

  wakeAll(): void {
    this.#beats += 1;
    this.#wake(() => true);
  }

  #wake(isMeant: (waiter: Waiter) => boolean): void {
    for (const waiter of this.#waiters) {
      if (!isMeant(waiter)) continue;
      this.#waiters.delete(waiter);
      waiter.wake();
    }
  }

  /** Resolves when there was news of a scope after so much of it. */
  after(count: number, scope: string): Promise<void> {
    if (this.count(scope) !== count) return Promise.resolve();
    return new Promise((wake) => void this.#waiters.add({ scope, wake }));
  }
}

/** Returns true for the last event of a scope that moved away. Its log here ends there, even if the scope comes back. */
const isLeft = ({ event }: Recorded): boolean => event.type === "scope.moved";

const isLeftAt = async (journal: Journal, scope: string, seq: number): Promise<boolean> => {
  const [line] = seq > 0 ? await journal.read(scope, seq, seq) : [];
  return line !== undefined && isLeft(recordedIn(scope, line));
};

const admitted = (scope: string): string => {
  if (/^(?:session|process):./.test(scope)) return scope;
  throw new Refused("invalid_argument", `a scope is session:{id} or process:{id}, found ${JSON.stringify(scope)}`);
};

const gone = (scope: string, next: number): Refused =>
  new Refused("gone", `the log of ${scope} has no event ${next} any more`);

/** Returns true if retention has dropped the next event, so that no news will bring it. */
const isCut = async (journal: Journal, scope: string, next: number): Promise<boolean> =>
  next <= ((await journal.segment(scope))?.base ?? 0);

interface Followed {
  readonly scope: string;
  readonly after: number;
}

/** Yields the events after a cursor, as `OpenTab` says; throws `gone` if the log does not go back that far. */
export async function* follow(
  journal: Journal,
  news: News,
  of: Followed,
  signal: AbortSignal,
): AsyncGenerator<Recorded> {
  const wake = (): void => news.wakeAll();
  signal.addEventListener("abort", wake, { once: true });
  try {
    yield* linesAfter(journal, news, of, signal);
  } finally {
    signal.removeEventListener("abort", wake);
  }
}

async function* linesAfter(journal: Journal, news: News, of: Followed, signal: AbortSignal): AsyncGenerator<Recorded> {
  const scope = admitted(of.scope);
  if (await isLeftAt(journal, scope, of.after)) return;
  for (let next = of.after + 1; !signal.aborted;) {
    const count = news.count(scope);
    const lines = await journal.read(scope, next, next + chunk - 1);
    const first = lines[0]?.seq;
    if (first === undefined ? await isCut(journal, scope, next) : first > next) throw gone(scope, next);
    if (first === undefined) await news.after(count, scope);
    for (const line of lines) {
      if (signal.aborted) return;
      const one = recordedIn(scope, line);
      yield one;
      if (isLeft(one)) return;
      next = line.seq + 1;
    }
  }
}
