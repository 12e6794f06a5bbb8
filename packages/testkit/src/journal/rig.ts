/** Shared parts of the journal checks. */
import type { Journal } from "@pawl/runtime";
import type { Append, AppendResult, Holding } from "@pawl/runtime/driver";

/** A store that several processes can open. */
export interface JournalRig {
  /** Opens the store in one more process. With `room` the store takes only about that many more bytes. */
  readonly open: (room?: number) => Promise<Journal>;
  /** Advances the store's clock. */
  readonly pass: (ms: number) => void;
}

export interface JournalCheck {
  readonly name: string;
  /** A part that not every store has. Leases: several instances share the store, and keep away from each other's scopes. */
  readonly needs?: "leases";
  /** Throws if the store fails the check. */
  readonly run: (rig: JournalRig) => Promise<void>;
}

/** The protocol that the checks use. */
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

/** Claims a scope, or throws if the claim is not granted. */
export const claimed = async (journal: Journal, scope: string, instance: string): Promise<Holding> => {
  const claim = await journal.claim(scope, instance, protocol);
  if (claim.type === "claimed") return claim;
  throw new Error(`${instance} claims ${scope}: expected claimed, found ${JSON.stringify(claim)}`);
};

export const one = async (journal: Journal, what: Append): Promise<AppendResult["type"]> =>
  (await journal.appendAll([what]))[0]?.type ?? "failed";

export const seqs = async (journal: Journal, scope: string, from = 1, to?: number): Promise<readonly number[]> =>
  (await journal.read(scope, from, to)).map(({ seq }) => seq);
