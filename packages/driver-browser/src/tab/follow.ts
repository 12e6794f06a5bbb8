/** The log of a scope as it grows, as any tab sees it: read from the database, whenever somebody tells of news. */
import type { Recorded } from "@pawl/sansio-core";
import { type Journal, Refused } from "@pawl/runtime";
import { recordedIn } from "@pawl/runtime/driver";
import type { TabMessage } from "./message.ts";

/** Lines that are read at once. */
const chunk = 500;

/** Where others tell of it. */
interface Heard {
  readonly hear: (hearer: (message: TabMessage) => void) => void;
}

interface Waiter {
  readonly scope: string;
  readonly wake: () => void;
}

/** How often there was news of a scope. Whoever writes may have more to tell than was announced: a beat is news of all. */
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

/** A copy that was left is over, whatever is put in its place when the scope comes back. */
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

/** Nothing more is there, or all that is read at once was deleted: then no news will bring it. */
const isCut = async (journal: Journal, scope: string, next: number): Promise<boolean> =>
  next <= ((await journal.segment(scope))?.base ?? 0);

interface Followed {
  readonly scope: string;
  readonly after: number;
}

/** After a cursor, and on, as `OpenTab` says; throws `gone` where the log does not go back as far. */
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
