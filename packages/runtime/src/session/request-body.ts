/**
 * Reads, hashes and stores the calls of a request, and refuses another request under its id. Of
 * many calls a slice has its turn of the event loop at a time: between two of them other clients are served.
 */
import type { EventOf, RequestedCall } from "@pawl/sansio-core";
import { RequestedCallCodec } from "@pawl/sansio-core/driver";
import { type Json, encodeSlices, isHeavy, sliceOf, stringify, textSlices } from "@pawl/tool-value";
import { inTurns, turnOf } from "../platform.ts";
import { type Access, storedForm } from "../scope/access.ts";
import { type CallOfRequest, recordedCalls } from "./call.ts";
import { differentFields } from "../body/divergence.ts";
import { Refused } from "../error.ts";
import { eventAt } from "../scope/history.ts";

const inSlices = async <A, B>(
  { platform }: Pick<Access, "platform">,
  items: readonly A[],
  work: (slice: readonly A[], before: number) => B | Promise<B>,
): Promise<B[]> => {
  const done: B[] = [];
  for (let from = 0; from < items.length; from += sliceOf) {
    if (from > 0) await turnOf(platform);
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

/** Reads the calls that a caller gave: at once, or in slices where they are many or large. */
export const readCalls = (access: Access, given: readonly CallOfRequest[]): ReadCalls | Promise<ReadCalls> => {
  if (Array.isArray(given) && given.length > sliceOf) return readMany(access, given);
  return isHeavy(given) ? readLarge(access, given) : readAll(given);
};

const readLarge = async ({ platform }: Access, given: readonly CallOfRequest[]): Promise<ReadCalls> => {
  await turnOf(platform);
  const calls = recordedCalls(given);
  await turnOf(platform);
  return { calls, text: await inTurns(textSlices(calls as unknown as Json), platform) };
};

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

type SubmittedCalls = EventOf<"request.submitted">;

/** Stores large values. Returns the event as it is recorded, also where it has none: it is looked through only once. */
export const storedCalls = async (access: Access, event: SubmittedCalls): Promise<SubmittedCalls> => {
  const slices = await inSlices(access, event.calls, async (calls) => {
    const slice = { ...event, calls };
    return ((await storedForm(access, slice)) as SubmittedCalls | undefined) ?? slice;
  });
  return { ...event, calls: slices.flatMap(({ calls }) => calls) };
};

/** Encodes the calls of the event that is recorded next, so that writing its line takes no turn of its own. */
export const encodedCalls = ({ platform }: Access, { calls }: SubmittedCalls): void | Promise<void> =>
  inTurns(encodeSlices(RequestedCallCodec, calls), platform);

export type Submitted = EventOf<"request.submitted" | "flow.submitted" | "turn.submitted">;

/** Returns what the id of a request stands for. */
const subjectOf = (event: Submitted): Json => {
  const { execution_scope } = event;
  const own = execution_scope === undefined ? {} : { execution_scope };
  if (event.type === "request.submitted") return { ...own, calls: event.calls } as unknown as Json;
  if (event.type === "turn.submitted") return { ...own, messages: event.messages } as unknown as Json;
  const { flow, bindings, unresolved } = event;
  return { ...own, flow, bindings, unresolved } as unknown as Json;
};

/** Writes a JSON pointer as a program would: `calls[0].args.amount`. */
const fieldOf = (pointer: string): string =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((field, part) => (/^\d+$/.test(part) ? `${field}[${part}]` : `${field}${field && "."}${part}`), "");

/** Says which field differs first from the request that event `born` submitted under this id. */
const differenceTo = async (access: Access, event: Submitted, born: number): Promise<string> => {
  await access.runner.whenDurable(born);
  const { event: before } = await access.values.of(await eventAt(access, born));
  if (before.type !== event.type) return "it was of another kind";
  const [field] = differentFields("", subjectOf(before as Submitted), subjectOf(event));
  if (field === undefined) return "it had other tools";
  const { path, expected = "nothing", found = "nothing" } = field;
  return `\`${fieldOf(path)}\` was ${expected}, found ${found}`;
};

/** Makes the refusal of a request whose id another one has, which event `born` submitted. */
export const conflictWith = async (
  access: Access,
  event: Submitted,
  born: number,
): Promise<{ readonly code: string; readonly message: string }> => {
  const difference = await differenceTo(access, event, born).catch((thrown: unknown) => {
    if (thrown instanceof Refused) return "the log does not reach back to it"; // Retention took it.
    throw thrown;
  });
  const message = `request \`${event.request}\` was submitted with another body (${difference}): other calls need another id`;
  return { code: "request_conflict", message };
};
