/** Requests and turns that are waited for: for as long as their caller prefers, and then seen as they are. */
import { Refused, type Replies, type RequestStatus, type Session } from "@pawl/runtime";
import { longestWaitS, wantedWait } from "../body.ts";
import type { Caller, Query } from "./route.ts";

/** Asks for something until a time is over, or until it is there. */
const within = async (
  seconds: number,
  gone: AbortSignal,
  ask: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> => {
  const late = seconds === 0 ? AbortSignal.abort() : AbortSignal.timeout(seconds * 1000);
  try {
    await ask(AbortSignal.any([gone, late]));
  } catch (thrown) {
    if (!(thrown instanceof Refused && thrown.code === "waiter_gone")) throw thrown;
  }
};

const isOver = ({ state }: RequestStatus): boolean => state === "done" || state === "failed" || state === "cancelled";

/** Waits as long as the caller prefers, and returns the headers that say so. */
export const waited = async (
  { request, gone }: Caller,
  ask: (signal: AbortSignal) => Promise<unknown>,
): Promise<{ readonly [header: string]: string }> => {
  const seconds = wantedWait(request.headers);
  await within(seconds, gone, ask);
  return seconds === 0 ? {} : { "preference-applied": `wait=${seconds}` };
};

export interface Looked {
  readonly status: RequestStatus;
  /** Once it is over. */
  readonly replies?: Replies;
}

/**
 * Looks at a request that may be over: replies that a waiter left before they came are in the state, or in the log. They are
 * kept until they are acknowledged, since an answer over HTTP may be lost.
 */
export const lookedAt = async (session: Session, request: string, gone: AbortSignal): Promise<Looked> => {
  const status = await session.status(request);
  if (!isOver(status)) return { status };
  return { status, replies: await session.replies(request, { keep: true, signal: gone }) };
};

/** The header by which a caller says how long it waits. */
export const prefer: Query = {
  prefer: { type: "string", what: `\`wait=30\` waits so many seconds for the end, ${longestWaitS} at most` },
};
