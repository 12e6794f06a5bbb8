/** Runs in the browser: the tab's side of scopes that move to a Node host and back, and that may die on the way. */
import { type Journal, Runtime, defineTool, importLog } from "@pawl/runtime";
import type { Append, MoveAnswer, MovePart, Mover } from "@pawl/runtime/driver";
import { pending } from "@pawl/tool-value";
import { drawing } from "../drawing.ts";
import { type BrowserJournal, browserPlatform, openBrowserJournal } from "../../src/index.ts";

/** What the test gives the page: the host, */
declare const hostSend: Mover["send"];
declare const hostDecline: Mover["decline"];
/** its end, as a crash ends it, */
declare const die: () => Promise<never>;
/** and a place outside, where work is counted. */
declare const outside: (what: string) => Promise<number>;

const mover: Mover = { send: (part) => hostSend(part), decline: (scope, nonce) => hostDecline(scope, nonce) };

export interface Death {
  readonly of: string;
  readonly when: "before" | "after";
}

const mortal = (journal: BrowserJournal, death: Death | undefined): Journal => {
  const around = async <A>(appends: readonly Pick<Append, "lines">[], work: () => Promise<A>): Promise<A> => {
    const isMeant = appends.some(({ lines }) => lines.some(({ line }) => line.includes(`"type":"${death?.of}"`)));
    if (isMeant && death?.when === "before") return die();
    const result = await work();
    if (isMeant) return die();
    return result;
  };
  const { moves } = journal;
  return {
    ...journal,
    appendAll: (appends) => around(appends, () => journal.appendAll(appends)),
    moves: { ...moves, adopt: (adoption) => around([adoption], () => moves.adopt(adoption)) },
  };
};

/** What the parked call and the worker wait for. */
export const tokens: { parked?: string; go?: string } = {};

const tools = [
  defineTool({ name: "echo", durable: true, execute: () => "said" }),
  drawing,
  defineTool({
    name: "parked",
    execute: (_, ctx) => ((tokens.parked = ctx.completionKey()), pending({ on_cancel: "ignore" })),
  }),
  defineTool({
    name: "worker",
    durable: true,
    execute: async (_, ctx) => {
      const first = await ctx.run("first", () => outside("first"));
      tokens.go = ctx.token("go");
      await ctx.waitFor("go");
      return [first, await ctx.run("second", () => outside("second"))];
    },
  }),
];

let journal: BrowserJournal;
let runtime: Runtime;

export const start = async (name: string, death?: Death): Promise<void> => {
  journal = await openBrowserJournal({ name });
  const roots = await journal.roots();
  const instance = `tab:${crypto.randomUUID()}`;
  runtime = new Runtime({
    journal: mortal(journal, death),
    platform: browserPlatform,
    tools,
    instance,
    roots,
    mover: () => mover,
    host: { attachments: journal.attachments },
  });
};

export const stop = async (): Promise<void> => {
  await runtime.close();
  journal.close();
};

export const put = async (text: string): Promise<string> => (await importLog(journal, "import", [text])).scope.id;

export const begin = async (): Promise<void> => {
  const session = await runtime.session("s");
  await session.request("done", [{ label: "c", tool: "echo", args: {} }]);
  for (const tool of ["parked", "worker"])
    session.request(tool, [{ label: "c", tool, args: {} }]).catch(() => undefined); // It moves away.
};

export const move = async (scope: string): Promise<string> =>
  runtime.move(scope, "host", { withinMs: 10_000 }).then(
    () => "moved",
    (thrown: unknown) => String(thrown),
  );

/** Goes on with what is due, as far as it can. */
export const recover = (): Promise<void> => runtime.recover();

/** Goes on with what was on its way; where the other side is not there, whoever asks next is told. */
export const goOn = async (): Promise<string> =>
  runtime.session("s").then(
    () => "open",
    (thrown: unknown) => (thrown as { readonly code?: string }).code ?? String(thrown),
  );

export const keep = (): Promise<string> =>
  runtime.moves.keep("session:s").then(
    () => "kept",
    (thrown: unknown) => (thrown as { readonly code?: string }).code ?? String(thrown),
  );

export const send = (part: MovePart): Promise<MoveAnswer> => runtime.moves.arrivals.send(part);
export const decline = (scope: string, nonce: string): Promise<MoveAnswer> =>
  runtime.moves.arrivals.decline(scope, nonce);

export const linesOf = async (scope: string): Promise<readonly string[]> =>
  (await journal.read(scope, 1)).map(({ line }) => line);
export const check = async (scope: string): Promise<string | undefined> => (await journal.verify(scope))?.type;

export const resolve = async (key: string): Promise<unknown> =>
  (await runtime.session("s")).resolve(key, { status: "ok", payload: "x" });
export const outcome = async (request: string): Promise<unknown> =>
  (await (await runtime.session("s")).replies(request))[0]?.output.outcome;

/** The name of bytes that a call has put here. */
export const draw = async (text: string): Promise<string> => {
  const session = await runtime.session("s");
  const [reply] = await session.request(text, [{ label: "c", tool: "draw", args: { text } }]);
  return String(reply?.output.outcome.payload);
};
export const attached = async (id: string): Promise<string | undefined> => {
  const bytes = await journal.attachments.bytes(id);
  return bytes && new TextDecoder().decode(bytes);
};
