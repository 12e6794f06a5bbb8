/**
 * Turns of a chat, as its server finds them: which one is the latest, and what pages are shown of it. A turn is a request of
 * the session, named after the messages that it answers. So a page that posts twice has one turn.
 */
import { Refused, type Session } from "@pawl/runtime";
import { callRef } from "@pawl/sansio-core";
import { hashText, isObject } from "@pawl/tool-value";
import type { UIMessage, UIMessageChunk } from "ai";
import { type Part, PartForm } from "./answer.ts";
import type { ChatTurn, chatTool } from "./chat-tool.ts";
import { isTitleOf, pageOf } from "./page.ts";

/** A chat, and a part of its latest turn. */
export interface Place {
  readonly id: string;
  readonly part: number;
}

export interface Turn {
  readonly request: string;
  readonly call: string;
  readonly isLive: boolean;
  /** Ended without its message, so that the same messages begin another turn. */
  readonly isBroken: boolean;
}

/** The key of the session's store that holds the latest turn. */
const storeKey = "@pawl/ai-sdk";
const label = "turn";

const isCode = (thrown: unknown, code: string): boolean => thrown instanceof Refused && thrown.code === code;

/** Finds a turn; undefined where the session does not know it. */
const turnNamed = async (session: Session, request: string): Promise<Turn | undefined> => {
  try {
    const { state } = await session.status(request);
    const isBroken = state === "failed" || state === "cancelled";
    return { request, call: callRef(request, label), isLive: !isBroken && state !== "done", isBroken };
  } catch (thrown) {
    if (isCode(thrown, "request_unknown")) return undefined;
    throw thrown;
  }
};

export const latestTurn = async (session: Session): Promise<Turn | undefined> => {
  const kept = await session.store.get(storeKey);
  const request = isObject(kept) ? kept["request"] : undefined;
  return typeof request === "string" ? turnNamed(session, request) : undefined;
};

/**
 * Names the turn that answers these messages. To answer them once more is another turn, unless the first is still under way: a
 * page that has lost its server asks for another answer as one does that did not like it.
 */
export const requestOf = (messages: readonly UIMessage[], isAgain: boolean, latest: Turn | undefined): string => {
  const name = `chat:${hashText(JSON.stringify(messages)).slice(0, 24)}`;
  const [same, count = "1"] = latest?.request.split("#") ?? [];
  if (same !== name) return name;
  const isAnother = latest?.isBroken === true || (isAgain && latest?.isLive === false);
  const number = Number(count) + (isAnother ? 1 : 0);
  return number === 1 ? name : `${name}#${number}`;
};

const pollMs = 10;
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pollMs));

const momentMs = 100;

/** Gives a turn the moment that it needs to end: a page may have its finish before that is on record. */
export const endedOrLive = async (session: Session, turn: Turn): Promise<Turn> => {
  let now = turn;
  for (let waited = 0; now.isLive && waited < momentMs; waited += pollMs) {
    await pause();
    now = (await turnNamed(session, turn.request)) ?? turn;
  }
  return now;
};

/** Begins a turn, or joins it. Resolves once it is on record, so that its pages are there to be read. */
export const begunTurn = async (
  session: Session,
  tool: ReturnType<typeof chatTool>,
  request: string,
  messages: readonly UIMessage[],
): Promise<Turn> => {
  await session.store.set(storeKey, { request });
  let refused: { readonly thrown: unknown } | undefined;
  session.call(tool, { messages } satisfies ChatTurn, { id: request, label }).catch((thrown: unknown) => {
    refused = { thrown };
  });
  for (;;) {
    const turn = await turnNamed(session, request);
    if (turn !== undefined) return turn;
    if (refused !== undefined) throw refused.thrown;
    await pause();
  }
};

/** Ends the reading of a page whose chunks it has for nothing: they were not on record when their process died. */
const voided = (name: string): Error =>
  new Error(`${name} begins anew: what was not on record of it is void. Ask again`);

/** Reads the chunks of a part: with `from` recorded ones from there on, and else all as they come. Returns whether it ended. */
async function* chunksOf(
  session: Session,
  { call }: Turn,
  part: number,
  from: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<Part, boolean> {
  const name = pageOf(part);
  const form = new PartForm("page");
  let at = 0;
  const options = { name, signal, ...(from === undefined ? {} : { from: 0 }) };
  for await (const frame of session.stream(call, options)) {
    if (frame.type === "gap" || (frame.type === "reset" && frame.from < at)) throw voided(name);
    if (frame.type === "end") return frame.isDone;
    for (const chunk of frame.type === "chunks" ? frame.chunks : []) {
      const said = form.read(chunk);
      if (at++ >= (from ?? 0)) yield said;
    }
  }
  return false;
}

/** Says how a turn ended that has not said so itself. */
const endOf = async (session: Session, turn: Turn): Promise<readonly Part[]> => {
  await endedOrLive(session, turn);
  const { state } = await session.status(turn.request);
  if (state === "cancelled") return [{ type: "abort" }, { type: "finish" }];
  return state === "failed" ? [{ type: "error", errorText: "An error occurred." }, { type: "finish" }] : [];
};

async function* told(
  session: Session,
  turn: Turn,
  chunks: AsyncGenerator<Part, boolean>,
): AsyncGenerator<Part, boolean> {
  try {
    if (yield* chunks) return true;
  } catch (thrown) {
    const isSilent = isCode(thrown, "stream_unknown") && (await turnNamed(session, turn.request))?.isBroken === true;
    if (!isSilent) throw thrown; // The turn ended before it said anything.
  }
  yield* await endOf(session, turn);
  return false;
}

const streamOf = (make: (signal: AbortSignal) => AsyncGenerator<Part, unknown>): ReadableStream<UIMessageChunk> => {
  const leave = new AbortController();
  const chunks = make(leave.signal);
  return new ReadableStream<UIMessageChunk>({
    pull: async (controller) => {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value as unknown as UIMessageChunk);
    },
    cancel: () => leave.abort(), // A page that goes away stops nothing.
  });
};

/** Streams one part of a turn. */
export const partOf = (
  session: Session,
  turn: Turn,
  part: number,
  from: number | undefined,
): ReadableStream<UIMessageChunk> =>
  streamOf((signal) => told(session, turn, chunksOf(session, turn, part, from && Math.max(0, from), signal)));

/** Says what comes after a part that asked a person: the decision is waited for, or was taken and there is another part. */
export const afterAsking = async (
  session: Session,
  turn: Turn,
  part: number,
  isAsked: () => Promise<boolean>,
): Promise<"asked" | "decided"> => {
  const leave = new AbortController();
  let isDecided = false;
  const said = chunksOf(session, turn, part + 1, undefined, leave.signal).next();
  const noted = (): void => void (isDecided = true);
  said.then(noted, noted);
  try {
    for (;;) {
      if (await isAsked()) return "asked";
      if (isDecided) return "decided";
      await pause();
    }
  } finally {
    leave.abort();
  }
};

/** The calls that a part asks a person about. */
class Asked {
  readonly #calls = new Map<string, string>();

  note(chunk: Part): void {
    const { type, approvalId, toolCallId, isAutomatic } = chunk as Part & {
      readonly [field: string]: string | boolean;
    };
    if (type === "tool-approval-request" && isAutomatic !== true)
      this.#calls.set(String(approvalId), String(toolCallId));
    if (type === "tool-approval-response") this.#calls.delete(String(approvalId));
  }

  get calls(): readonly string[] {
    return [...this.#calls.values()];
  }
}

async function* fromStart(session: Session, turn: Turn, signal: AbortSignal): AsyncGenerator<Part> {
  for (let part = 1; ; part++) {
    const asked = new Asked();
    let finish: Part | undefined;
    const chunks = told(session, turn, chunksOf(session, turn, part, undefined, signal));
    for await (const chunk of chunks) {
      asked.note(chunk);
      if (chunk.type === "finish") finish = chunk;
      else if (part === 1 || chunk.type !== "start") yield chunk;
    }
    const isAsked = (): Promise<boolean> => waitsFor(session, asked.calls);
    if (asked.calls.length > 0 && (await afterAsking(session, turn, part, isAsked)) === "decided") {
      const now = await turnNamed(session, turn.request);
      if (now?.isLive === true || now?.isBroken === false) continue;
    }
    if (finish !== undefined) yield finish;
    return;
  }
}

/** Says whether a person has not decided on one of these calls. */
const waitsFor = async (session: Session, calls: readonly string[]): Promise<boolean> => {
  const approvals = await session.approvals();
  return approvals.some(({ label: title }) => calls.some((call) => isTitleOf(title, call)));
};

/** Streams a turn from its beginning, all parts of it. */
export const partFromStart = (session: Session, turn: Turn): ReadableStream<UIMessageChunk> =>
  streamOf((signal) => fromStart(session, turn, signal));
