/** Turns: something is said to the session's agent, and its end is waited for. The same turn again joins it. */
import { Refused, RequestStatus, type Session } from "@pawl/runtime";
import {
  type ReadTurnOptions,
  type TurnCursor,
  TurnFrame,
  type TurnOptions,
  turnCursorAfter,
} from "@pawl/runtime/driver";
import { type TurnEnd, type TurnMessage, turnCodecs } from "@pawl/sansio-core/driver";
import { type Codec, array, optional, record, string, stringifyRecord } from "@pawl/tool-value";
import { sessionOf } from "@pawl/wire/host";
import { answered } from "../body.ts";
import type { ServerEvent } from "../event-stream.ts";
import { after, last, lastId } from "./event.ts";
import { ShownPromptCodec } from "@pawl/wire/frame";
import { type Asked, type Caller, countIn, principal, route, scopeIn } from "./route.ts";
import { lookedAt, prefer, waited } from "./waited.ts";

interface TurnSubmission {
  readonly messages: readonly TurnMessage[];
  readonly agent?: string;
  readonly when_busy?: NonNullable<TurnOptions["whenBusy"]>;
  readonly limits?: NonNullable<TurnOptions["limits"]>;
  readonly output?: NonNullable<TurnOptions["output"]>;
  readonly execution_scope?: string;
}
const TurnSubmissionCodec: Codec<TurnSubmission> = record<TurnSubmission>("TurnSubmission", {
  messages: array(turnCodecs.message),
  agent: optional(string),
  when_busy: optional(turnCodecs.whenBusy),
  limits: optional(turnCodecs.limits),
  output: optional(turnCodecs.output),
  execution_scope: optional(string),
});

/** A turn with its end, once it is over. */
interface TurnView {
  readonly status: RequestStatus;
  readonly end?: TurnEnd;
}
const TurnViewCodec: Codec<TurnView> = record<TurnView>("Turn", {
  status: RequestStatus,
  end: optional(turnCodecs.end),
});

const viewOf = async (session: Session, request: string, gone: AbortSignal): Promise<TurnView> => {
  const { status, replies } = await lookedAt(session, request, gone);
  return replies?.turn === undefined ? { status } : { status, end: replies.turn };
};

const optionsOf = (asked: Asked<TurnSubmission>): TurnOptions => {
  const { agent, when_busy: whenBusy, limits, output, execution_scope: executionScope } = asked.body;
  const traceparent = asked.request.headers.get("traceparent");
  return {
    by: principal(asked),
    ...(agent === undefined ? {} : { agent }),
    ...(whenBusy === undefined ? {} : { whenBusy }),
    ...(limits === undefined ? {} : { limits }),
    ...(output === undefined ? {} : { output }),
    ...(executionScope === undefined ? {} : { executionScope }),
    ...(traceparent === null ? {} : { traceparent }),
  };
};

const requestIn = ({ params }: Caller): string => params["request"] as string;

const submit = async (asked: Asked<TurnSubmission>): Promise<Response> => {
  const { runtime, body, params, gone, base } = asked;
  const session = await sessionOf(runtime, scopeIn(asked), "call");
  const request = requestIn(asked);
  const options = { ...optionsOf(asked), keep: true };
  const applied = await waited(asked, (signal) => session.turn(request, body.messages, { ...options, signal }));
  const view = await viewOf(session, request, gone);
  const place = `sessions/${encodeURIComponent(params["session"] as string)}/turns/${encodeURIComponent(request)}`;
  const headers = { location: `${base}/v1/${place}`, ...applied };
  return answered(TurnViewCodec, view, view.end === undefined ? 202 : 200, headers);
};

const look = async (asked: Caller): Promise<Response> => {
  const session = await sessionOf(asked.runtime, scopeIn(asked), "replies");
  const request = requestIn(asked);
  const applied = await waited(asked, (signal) => session.replies(request, { keep: true, signal }));
  return answered(TurnViewCodec, await viewOf(session, request, asked.gone), 200, applied);
};

const cursorOf = (id: string): TurnCursor => {
  const [n, attempt, at] = /^\d{1,15}\.\d{1,15}\.\d{1,15}$/.test(id) ? id.split(".").map(Number) : [];
  if (n !== undefined && attempt !== undefined && at !== undefined) return { n, attempt, at };
  throw new Refused("invalid_argument", `Last-Event-ID: expected \`{answer}.{attempt}.{place}\`, found \`${id}\``);
};

/** Yields what is said in a turn. The id of each event is the place behind it. */
async function* frames(session: Session, request: string, options: ReadTurnOptions): AsyncGenerator<ServerEvent> {
  for await (const frame of session.readTurn(request, options)) {
    const { n, attempt, at } = turnCursorAfter(frame);
    yield { id: `${n}.${attempt}.${at}`, event: frame.type, data: stringifyRecord(TurnFrame.encode(frame)) };
  }
}

const events = async (asked: Caller): Promise<Response> => {
  const session = await sessionOf(asked.runtime, scopeIn(asked), "stream");
  const id = lastId(asked);
  const from = id === undefined ? {} : { from: cursorOf(id) };
  return asked.stream(frames(session, requestIn(asked), { ...from, signal: asked.gone }));
};

const prompt = async (asked: Caller): Promise<Response> => {
  const session = await sessionOf(asked.runtime, scopeIn(asked), "prompt");
  const request = asked.query.get("request");
  const n = countIn(asked.query, "n");
  const of = { ...(request === null ? {} : { request }), ...(n === undefined ? {} : { n }) };
  return answered(ShownPromptCodec, await session.prompt(of));
};

const path = "/v1/sessions/{session}/turns/{request}";

export const turnRoutes = [
  route<TurnSubmission>({
    method: "POST",
    path,
    name: "submitTurn",
    what: "Says something to the session's agent. The same turn again joins it; another one under the same name is refused.",
    asks: "call",
    headers: { ...prefer, traceparent: { type: "string", what: "The caller's span (W3C Trace Context)" } },
    body: TurnSubmissionCodec,
    answers: {
      200: { what: "It is over: its end", body: TurnViewCodec },
      202: { what: "It is recorded, and goes on: ask at `Location`", body: TurnViewCodec },
    },
    act: submit,
  }),
  route({
    method: "GET",
    path,
    name: "getTurn",
    what: "Returns a turn, with its end once it is over. It is cancelled and acknowledged as the request of its name.",
    asks: "replies",
    headers: prefer,
    answers: { 200: { what: "The turn", body: TurnViewCodec } },
    act: look,
  }),
  route({
    method: "GET",
    path: "/v1/sessions/{session}/prompt",
    name: "getPrompt",
    what: "Returns what the model is told in the n-th model call of a turn, or in its last; without a turn, in the next one.",
    asks: "prompt",
    query: {
      request: { type: "string", what: "The turn" },
      n: { type: "integer", what: "The number of its model call" },
    },
    answers: { 200: { what: "The prompt", body: ShownPromptCodec } },
    act: prompt,
  }),
  route({
    method: "GET",
    path: `${path}/events`,
    name: "readTurn",
    what: "Reads what is said in a turn as it is said, until it is over: deltas, parts that come whole, and attempts that begin anew.",
    asks: "stream",
    headers: last,
    query: { after },
    answers: { 200: { what: "Server-sent events" } },
    events: TurnFrame,
    act: events,
  }),
];
