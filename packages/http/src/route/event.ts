/** The events of a session, and the streams of its calls, as server-sent events that a reader goes on from. */
import { Cursor, type Frame, Refused, type Session } from "@pawl/runtime";
import { FrameCodec, StreamFrame, endOf } from "@pawl/runtime/driver";
import { EventCodec } from "@pawl/sansio-core";
import { type AnyCodec, record, stringifyRecord, u64 } from "@pawl/tool-value";
import { scopeOf } from "@pawl/wire/host";
import type { ServerEvent } from "../event-stream.ts";
import { type Caller, countIn, route, scopeIn } from "./route.ts";

const LogEntry = record<{ readonly at: number; readonly event: never }>("LogEntry", {
  at: u64,
  event: EventCodec as never,
});

const wrongId = (wanted: string, found: string): Refused =>
  new Refused("invalid_argument", `Last-Event-ID: expected ${wanted}, found \`${found}\``);

/** Returns what a reader has: what its browser says by itself, or what it says in the address. */
export const lastId = ({ request, query }: Caller): string | undefined =>
  request.headers.get("last-event-id") ?? query.get("after") ?? undefined;

const numbersIn = (id: string, wanted: string): readonly [number, number | undefined] => {
  const found = /^(?<first>\d{1,16})(?:\.(?<second>\d{1,16}))?$/.exec(id)?.groups;
  if (found === undefined) throw wrongId(wanted, id);
  const { first, second } = found;
  return [Number(first), second === undefined ? undefined : Number(second)];
};

const idOf = ({ seq, index }: Cursor): string => (index === Number.MAX_SAFE_INTEGER ? `${seq}` : `${seq}.${index}`);

const cursorOf = (scope: string, id: string): Cursor => {
  const [seq, index] = numbersIn(id, "`{event}.{index}`, the id of an event that this address has sent");
  return index === undefined ? endOf(scope, seq) : { scope, seq, index };
};

/** Yields the recorded events after one of them. */
async function* log(session: Session, after: number, gone: AbortSignal): AsyncGenerator<ServerEvent> {
  for await (const { seq, at, event } of session.follow(after, gone))
    yield { id: String(seq), event: "log", data: stringifyRecord(LogEntry.encode({ at, event: event as never })) };
}

const toldOf = (frame: Frame): ServerEvent => {
  const data = stringifyRecord(FrameCodec.encode(frame));
  switch (frame.type) {
    case "observed":
      return { id: idOf(frame.cursor), event: "observed", data };
    case "gap":
      return { id: idOf(frame.to), event: "gap", data };
    default:
      return { event: frame.type, data };
  }
};

/** Yields observations: first where they begin, so that a reader that has heard nothing yet can go on from there. */
async function* observations(
  session: Session,
  from: Cursor | undefined,
  gone: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const start = from ?? endOf(session.runner.id, session.state.seq);
  const frames = session.observe(from === undefined ? {} : { from });
  const leave = (): void => void frames.return();
  gone.addEventListener("abort", leave, { once: true });
  try {
    await session.runner.whenDurable();
    yield { id: idOf(start), event: "watching", data: stringifyRecord(Cursor.encode(start)) };
    for await (const frame of frames) yield toldOf(frame);
  } finally {
    gone.removeEventListener("abort", leave);
    leave();
  }
}

const events = async (asked: Caller): Promise<Response> => {
  const scope = scopeIn(asked);
  const form = asked.query.get("form") ?? "observations";
  if (form !== "observations" && form !== "log")
    throw new Refused("invalid_argument", `form: expected observations or log, found \`${form}\``);
  const session = await scopeOf(asked.runtime, scope);
  const last = lastId(asked);
  if (form === "log") {
    const [after] = last === undefined ? [0] : numbersIn(last, "the number of an event");
    return asked.stream(log(session, after, asked.gone));
  }
  return asked.stream(observations(session, last === undefined ? undefined : cursorOf(scope, last), asked.gone));
};

/** Names the place behind a frame: the attempt, and how many chunks there are. */
const placeOf = (frame: StreamFrame): string | undefined => {
  switch (frame.type) {
    case "chunks":
      return `${frame.attempt}.${frame.from + frame.chunks.length}`;
    case "reset":
      return `${frame.attempt}.${frame.keep}`;
    case "end":
      return `${frame.attempt}.${frame.at}`;
    case "gap":
      return undefined;
  }
};

async function* chunks(frames: AsyncGenerator<StreamFrame>): AsyncGenerator<ServerEvent> {
  for await (const frame of frames) {
    const id = placeOf(frame);
    const data = stringifyRecord(StreamFrame.encode(frame));
    yield { event: frame.type, data, ...(id === undefined ? {} : { id }) };
  }
}

const stream = async (asked: Caller): Promise<Response> => {
  const { query, params, gone } = asked;
  const name = query.get("name");
  if (name === null) throw new Refused("invalid_argument", "name: expected the name of a stream, found none");
  const session = await scopeOf(asked.runtime, scopeIn(asked));
  const last = lastId(asked);
  const recorded = countIn(query, "from");
  const [attempt, at] = last === undefined ? [] : numbersIn(last, "`{attempt}.{chunks}`, an id of this stream");
  const from = attempt === undefined || at === undefined ? recorded : { attempt, at };
  const frames = session.stream(params["call"] as string, {
    name,
    signal: gone,
    ...(from === undefined ? {} : { from }),
  });
  return asked.stream(chunks(frames));
};

/** The header and the query by which a reader says what it has. */
export const last = {
  "last-event-id": { type: "string", what: "The id of the last event that the reader has" },
} as const;
export const after = { type: "string", what: "The same as `Last-Event-ID`, for those who cannot set headers" } as const;

export const eventRoutes = [
  route({
    method: "GET",
    path: "/v1/sessions/{session}/events",
    name: "readEvents",
    what: "Follows a session: observations from now on, or from an id; or its recorded log, from the beginning or an id.",
    asks: "watch",
    headers: last,
    query: { form: { type: "string", what: "`observations` (default) or `log`" }, after },
    answers: { 200: { what: "Server-sent events" } },
    events: FrameCodec as AnyCodec,
    act: events,
  }),
  route({
    method: "GET",
    path: "/v1/sessions/{session}/calls/{call}/stream",
    name: "readStream",
    what: "Reads a stream of a call, live and late: what is on record, then what is said.",
    asks: "stream",
    headers: last,
    query: {
      name: { type: "string", what: "The name that the tool gave to `ctx.stream`", required: true },
      from: { type: "integer", what: "Only recorded chunks, from this one on" },
      after,
    },
    answers: { 200: { what: "Server-sent events" } },
    events: StreamFrame as AnyCodec,
    act: stream,
  }),
];
