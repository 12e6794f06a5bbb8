/** Answers that a reader is told when they are new (long polling): it says what it has, and how long it waits. */
import { type Codec, hashText, stringifyRecord } from "@pawl/tool-value";
import { wantedWait } from "./body.ts";
import type { Caller } from "./route/route.ts";

/** The time between two looks. One that finds nothing new reads an index, or states in memory. */
const lookMs = 150;

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });

/** Answers with what is there, or, where its reader has that already, as soon as there is something else. */
export const answeredWhenNew = async <A>(
  { request, gone }: Pick<Caller, "request" | "gone">,
  codec: Codec<A>,
  look: () => Promise<A>,
): Promise<Response> => {
  const has = request.headers.get("if-none-match");
  const until = Date.now() + wantedWait(request.headers) * 1000;
  for (;;) {
    const text = stringifyRecord(codec.encode(await look()));
    const etag = `"${hashText(text).slice(0, 32)}"`;
    if (etag !== has) return new Response(text, { headers: { "content-type": "application/json", etag } });
    if (gone.aborted || Date.now() >= until) return new Response(null, { status: 304, headers: { etag } });
    await pause(lookMs, gone);
  }
};
