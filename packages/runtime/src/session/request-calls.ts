/**
 * The calls of a request as they are read, hashed and stored. Of many calls a slice has its turn of the event loop at a
 * time: between two of them other clients are served.
 */
import type { EventOf, RequestedCall } from "@pawl/sansio-core";
import { type Json, stringify } from "@pawl/tool-value";
import { type Access, storedForm } from "../scope/access.ts";
import { type CallOfRequest, recordedCalls } from "./call.ts";

/** Reading so many calls takes a few milliseconds. */
const sliceOf = 512;

const inSlices = async <A, B>(
  { platform }: Pick<Access, "platform">,
  items: readonly A[],
  work: (slice: readonly A[], before: number) => B | Promise<B>,
): Promise<B[]> => {
  const done: B[] = [];
  for (let from = 0; from < items.length; from += sliceOf) {
    if (from > 0) await new Promise<void>((go) => platform.nextTurn(go));
    done.push(await work(items.slice(from, from + sliceOf), from));
  }
  return done;
};

export interface ReadCalls {
  readonly calls: readonly RequestedCall[];
  /** Their JSON. */
  readonly text: string;
}

const withText = (calls: readonly RequestedCall[]): ReadCalls => ({
  calls,
  text: stringify(calls as unknown as Json),
});

const readAll = (given: readonly CallOfRequest[]): ReadCalls => withText(recordedCalls(given));

/** Reads the calls that a caller gave: at once, or in slices where they are many. */
export const readCalls = (access: Access, given: readonly CallOfRequest[]): ReadCalls | Promise<ReadCalls> =>
  Array.isArray(given) && given.length > sliceOf ? readMany(access, given) : readAll(given);

const readMany = async (access: Access, given: readonly CallOfRequest[]): Promise<ReadCalls> => {
  const slices = await inSlices(access, given, (slice, before) => {
    try {
      return withText(recordedCalls(slice, before));
    } catch {
      return readAll(given); // All of them together say which is wrong.
    }
  });
  const text = `[${slices.map((slice) => slice.text.slice(1, -1)).join(",")}]`;
  return { calls: slices.flatMap(({ calls }) => calls), text };
};

/** Returns the text of a request that is hashed: one id stands for one text. */
export const textOf = ({ text }: ReadCalls, executionScope: string | undefined): string =>
  executionScope === undefined ? text : `[${stringify(executionScope)},${text}]`;

type Submitted = EventOf<"request.submitted">;

/** Stores large values. Returns the event as it is recorded, also where it has none: it is looked through only once. */
export const storedCalls = async (access: Access, event: Submitted): Promise<Submitted> => {
  const slices = await inSlices(access, event.calls, async (calls) => {
    const slice = { ...event, calls };
    return ((await storedForm(access, slice)) as Submitted | undefined) ?? slice;
  });
  return { ...event, calls: slices.flatMap(({ calls }) => calls) };
};
