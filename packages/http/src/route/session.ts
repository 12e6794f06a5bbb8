/** Sessions: listed with what each is at, and one of them with its live calls and why they wait. */
import { SessionEntry, SessionStatus, sessionStatus } from "@pawl/runtime/driver";
import { effectWords, waitsWords, why } from "@pawl/sansio-core";
import { type Codec, array, optional, record, string, u64 } from "@pawl/tool-value";
import { sessionOf } from "@pawl/wire/host";
import { answeredWhenNew } from "../when-new.ts";
import { prefixesOf, refuseNone } from "./prefix.ts";
import { type Caller, countIn, route, scopeIn, whenNew } from "./route.ts";

interface SessionPage {
  readonly sessions: readonly SessionEntry[];
  /** Asks for the next page, as `after`. Absent on the last one. */
  readonly next?: string;
}
const SessionPageCodec: Codec<SessionPage> = record<SessionPage>("SessionPage", {
  sessions: array(SessionEntry),
  next: optional(string),
});

/** A call that is not over, and what it waits for, in words. */
interface LiveCall {
  readonly call: string;
  readonly tool: string;
  readonly waits: string;
  readonly effects: readonly string[];
  readonly until?: number;
}
interface SessionView {
  readonly session: string;
  readonly title?: string;
  readonly tags: readonly string[];
  readonly status: SessionStatus;
  readonly calls: readonly LiveCall[];
  /** The last event of its log. */
  readonly seq: number;
  readonly updated_at: number;
}
const SessionViewCodec: Codec<SessionView> = record<SessionView>("Session", {
  session: string,
  title: optional(string),
  tags: array(string),
  status: SessionStatus,
  calls: array(
    record<LiveCall>("LiveCall", {
      call: string,
      tool: string,
      waits: string,
      effects: array(string),
      until: optional(u64),
    }),
  ),
  seq: u64,
  updated_at: u64,
});

const usualPage = 100;
const mostListed = 1000;

const list = async (asked: Caller): Promise<Response> => {
  const { runtime, query, claims } = asked;
  const limit = Math.max(1, Math.min(countIn(query, "limit") ?? usualPage, mostListed));
  const prefixes = refuseNone(claims, prefixesOf(claims, query.get("prefix") ?? ""));
  const after = query.get("after") ?? "";
  return answeredWhenNew(asked, SessionPageCodec, async () => {
    const found: SessionEntry[] = [];
    for (const prefix of prefixes)
      if (found.length <= limit)
        found.push(...(await runtime.sessions({ prefix, after, limit: limit + 1 - found.length })));
    const sessions = found.slice(0, limit);
    const next = found.length > limit ? sessions.at(-1)?.session : undefined;
    return { sessions, ...(next === undefined ? {} : { next }) };
  });
};

const look = async (asked: Caller): Promise<Response> => {
  const session = await sessionOf(asked.runtime, scopeIn(asked), "open");
  return answeredWhenNew(asked, SessionViewCodec, async () => {
    const { durable: state } = session.runner;
    const calls = why(state).calls.map(({ call, tool, what, until }): LiveCall => {
      const effects = "effects" in what ? what.effects.map(effectWords) : [];
      return { call, tool, waits: waitsWords(what), effects, ...(until === undefined ? {} : { until }) };
    });
    const { title, tags } = session.about;
    return {
      session: asked.params["session"] as string,
      ...(title === undefined ? {} : { title }),
      tags,
      status: sessionStatus(state),
      calls,
      seq: state.seq,
      updated_at: state.at,
    };
  });
};

export const sessionRoutes = [
  route({
    method: "GET",
    path: "/v1/sessions",
    name: "listSessions",
    what: "Lists the sessions that the token covers by name, with what each is at.",
    asks: "requests",
    headers: whenNew,
    query: {
      prefix: { type: "string", what: "Only sessions whose names begin so" },
      after: { type: "string", what: "The page behind this session: `next` of the page before" },
      limit: { type: "integer", what: `At most so many: ${usualPage}, or up to ${mostListed}` },
    },
    answers: { 200: { what: "Sessions", body: SessionPageCodec }, 304: { what: "Nothing new" } },
    act: list,
  }),
  route({
    method: "GET",
    path: "/v1/sessions/{session}",
    name: "getSession",
    what: "Returns what a session is at: its live calls, and what each waits for.",
    asks: "open",
    headers: whenNew,
    answers: { 200: { what: "The session", body: SessionViewCodec }, 304: { what: "Nothing new" } },
    act: look,
  }),
];
