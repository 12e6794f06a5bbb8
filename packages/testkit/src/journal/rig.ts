/** What the checks of journals stand on. */
import type { Append, AppendResult, Holding, Journal } from "@pawl/runtime";

/** One store, which processes open and leave. */
export interface JournalRig {
  /** The store as one more process sees it. With `room`, it takes no more than about so many bytes from now on. */
  readonly open: (room?: number) => Promise<Journal>;
  /** Time passes by the store's clock. */
  readonly pass: (ms: number) => void;
}

export interface JournalCheck {
  readonly name: string;
  /** Throws where the store does otherwise. */
  readonly run: (rig: JournalRig) => Promise<void>;
}

/** The protocol of the checks. */
export const protocol = 3;

export const line = (seq: number): { readonly seq: number; readonly line: string } => ({
  seq,
  line: `{"seq":${seq}}\n`,
});

export const append = (
  scope: string,
  epoch: number,
  first: number,
  more: Partial<Append> & { readonly count?: number } = {},
): Append => {
  const { count = 1, ...rest } = more;
  const lines = Array.from({ length: count }, (_, i) => line(first + i));
  return {
    scope,
    epoch,
    expectedSeq: first,
    appendId: `${epoch}:${first}`,
    lines,
    finished: [],
    wakeAt: undefined,
    protocol,
    messages: [],
    received: [],
    ...rest,
  };
};

export const same = (found: unknown, wanted: unknown, what: string): void => {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (a !== b) throw new Error(`${what}: expected ${b}, found ${a}`);
};

/** A claim that is granted. */
export const claimed = async (journal: Journal, scope: string, instance: string): Promise<Holding> => {
  const claim = await journal.claim(scope, instance, protocol);
  if (claim.type === "claimed") return claim;
  throw new Error(`${instance} claims ${scope}: expected claimed, found ${JSON.stringify(claim)}`);
};

export const one = async (journal: Journal, what: Append): Promise<AppendResult["type"]> =>
  (await journal.appendAll([what]))[0]?.type ?? "failed";

export const seqs = async (journal: Journal, scope: string, from = 1, to?: number): Promise<readonly number[]> =>
  (await journal.read(scope, from, to)).map(({ seq }) => seq);
