/**
 * Streams, as mutants are hunted with: a body that acts on each chunk of a producer that resumes, one that awaits a
 * producer that begins anew, and clients outside that have every recorded chunk once, in its place.
 */
import { Refused, type Session, defineTool } from "@pawl/runtime";
import { type StreamCursor, type StreamFrame, cursorAfter } from "@pawl/runtime/driver";
import type { ScenarioHost } from "../../src/index.ts";
import type { Hunt } from "./scenarios.ts";

const pages = ["one", "two", "three", "four"];

/** What a client has: it may ask twice at a time, and each reading goes on from a place of its own. */
interface Place {
  readonly has: readonly unknown[];
  readonly cursor: StreamCursor | undefined;
  readonly problem?: string;
}

const after = ({ has, cursor, ...rest }: Place, frame: StreamFrame): Place => {
  const next = { ...rest, cursor: cursorAfter(frame, cursor ?? { attempt: 1, at: 0 }) };
  if (frame.type === "reset") return { ...next, has: has.slice(0, frame.from) };
  if (frame.type === "gap") return { ...next, has, problem: "a gap" };
  if (frame.type === "end") return { ...next, has };
  if (frame.from !== has.length) return { ...next, has, problem: `chunk ${frame.from} behind ${has.length}` };
  return { ...next, has: [...has, ...frame.chunks] };
};

const isUnknown = (thrown: unknown): boolean => thrown instanceof Refused && thrown.code === "stream_unknown";

/** What a client outside has of a stream in the end: it reads along, and goes on from its cursor wherever the scope lives. */
const along = (host: ScenarioHost, call: string, name: string, how: "live" | "recorded"): Promise<unknown> => {
  let place: Place = { has: [], cursor: undefined };
  const read = async (session: Session): Promise<unknown> => {
    let own = place;
    const from = how === "live" ? own.cursor : own.has.length;
    for await (const frame of session.stream(call, { name, ...(from === undefined ? {} : { from }) }))
      place = own = after(own, frame);
    return own.problem ?? own.has;
  };
  const begun = async (): Promise<unknown> => {
    for (;;) {
      try {
        return await host.within(read, { as: `${how} ${call} ${name}` });
      } catch (thrown) {
        if (!isUnknown(thrown)) throw thrown;
        await host.sleep(20);
      }
    }
  };
  return begun();
};

/** Calls a tool, and reads its stream along. Says what readers do not agree on, else what they have. */
const readers = async (host: ScenarioHost, request: string, tool: string, name: string) => {
  const called = host.request(request, [{ label: "c1", tool, args: {} }]);
  const call = `${request}:c1`;
  const both = await Promise.all([along(host, call, name, "live"), along(host, call, name, "recorded")]);
  const [reply] = await called;
  const late = await along(host, call, name, "recorded");
  const isSame = both.every((one) => JSON.stringify(one) === JSON.stringify(late));
  return { payload: reply?.output.outcome.payload, chunks: isSame ? late : [...both, late] };
};

const wordsOf = (said: unknown): readonly unknown[] =>
  Array.isArray(said) ? said.map((word) => String(word).split(" ")[0]) : [said];

const pagesFrom = (sleep: (ms: number) => Promise<void>) =>
  async function* ({ recorded }: { readonly recorded: readonly string[] }) {
    for (const page of pages.slice(recorded.length)) {
      await sleep(300);
      yield page;
    }
  };

export const streaming: Hunt = {
  scenario: {
    claims: { "stream paged/pages": "any", "stream told/words": "any" },
    tools: ({ sleep, effect }) => [
      defineTool({
        name: "paged",
        durable: true,
        execute: async (_, ctx) => {
          const used: string[] = [];
          for await (const page of ctx.stream("pages", pagesFrom(sleep), { resume: true }))
            used.push(
              await ctx.run(`use ${used.length}`, async ({ key }) => (await effect("use", { key }), page), {
                input: page,
              }),
            );
          return used;
        },
      }),
      defineTool({
        name: "told",
        durable: true,
        execute: (_, ctx) =>
          ctx.stream("words", async function* ({ attempt }) {
            for (const page of pages) {
              await sleep(100);
              yield `${page} ${attempt}`;
            }
          }),
      }),
    ],
    host: async (host) => {
      const paged = await readers(host, "r1", "paged", "pages");
      const told = await readers(host, "r2", "told", "words");
      const { payload } = told;
      const attempts = new Set((payload as readonly string[]).map((word) => word.split(" ")[1]));
      return [paged.payload, paged.chunks, wordsOf(payload), wordsOf(told.chunks).slice(-pages.length), attempts.size];
    },
  },
  expected: [pages, pages, pages, pages, 1],
};
