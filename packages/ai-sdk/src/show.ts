/**
 * Shows pages what an SDK says of a turn: the chunks of its message, on record as a stream (`ctx.stream`) of the call. The
 * number of a chunk is for good, so that a page which comes back says how many it has.
 *
 * A body that runs again says all chunks again. Those of finished steps (a step is one answer of the model, with its tools)
 * are on record, and are the same. The step that the crash interrupted may go on otherwise, since an answer that was under
 * way is asked for again:
 *
 *   on record      start  start-step  text-start  "Hel"  "lo wor"
 *   said again     start  start-step  text-start  "Hel"  "lo, you"        then pages are told `reset-step`: they drop what they
 *   added          reset-step  text-start  "Hel"  "lo, you"               have of the step; where all is equal they go on in mid-word
 */
import type { ToolContext } from "@pawl/runtime";
import type { Json } from "@pawl/tool-value";
import { type Part, PartForm } from "./answer.ts";

/** Chunks on their way from the body to the producer of the stream. */
class Queue {
  readonly #chunks: Part[] = [];
  #end: { readonly thrown?: unknown } | undefined;
  #wake: () => void = () => undefined;

  push(chunk: Part): void {
    this.#chunks.push(chunk);
    this.#wake();
  }

  end(end: { readonly thrown?: unknown }): void {
    this.#end = end;
    this.#wake();
  }

  async *read(): AsyncGenerator<Part> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) yield chunk;
      else if (this.#end === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
      else if ("thrown" in this.#end) throw this.#end.thrown;
      else return;
    }
  }
}

/** Returns what a page has that was told these chunks: what was reset is gone. */
export const shownOf = (chunks: readonly Part[]): readonly Part[] => {
  const shown: Part[] = [];
  for (const chunk of chunks)
    if (chunk.type === "reset-step") shown.length = shown.findLastIndex(({ type }) => type === "start-step") + 1;
    else shown.push(chunk);
  return shown;
};

const isSame = (one: Part, other: Part): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Says the chunks that pages do not have yet, of those that are said again from the start. */
export async function* continued(recorded: readonly Part[], said: AsyncIterable<Part>): AsyncGenerator<Part> {
  const shown = shownOf(recorded);
  const begun = shown.findLastIndex(({ type }) => type === "start-step") + 1;
  const step: Part[] = [];
  let at = 0;
  for await (const chunk of said) {
    const known = shown[at];
    if (at < begun) at += 1;
    else if (known === undefined) yield chunk;
    else if (begun === 0 || isSame(known, chunk)) {
      at += 1;
      step.push(chunk);
    } else {
      at = shown.length;
      yield { type: "reset-step" };
      yield* step;
      yield chunk;
    }
  }
}

/** Chunks as pages get them, over the wire: in JSON. */
const onTheWire = (chunk: unknown): Part => JSON.parse(JSON.stringify(chunk)) as Part;

/** Shows the chunks of a stream, and resolves once all of them are on record. */
export const show = async (
  ctx: Pick<ToolContext, "stream">,
  name: string,
  chunks: AsyncIterable<unknown>,
): Promise<void> => {
  const queue = new Queue();
  const source = async function* ({ recorded }: { readonly recorded: readonly Json[] }): AsyncGenerator<Json> {
    const form = new PartForm("page");
    const before = recorded.map((chunk) => form.read(chunk));
    for await (const chunk of continued(before, queue.read())) yield form.write(chunk);
  };
  const shown = ctx.stream<Json>(name, source, { resume: true });
  try {
    for await (const chunk of chunks) queue.push(onTheWire(chunk));
    queue.end({});
  } catch (thrown) {
    queue.end({ thrown });
  }
  await shown;
};
