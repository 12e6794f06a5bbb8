/** Approvals: what waits for a person, over all sessions that a token covers, and the decision on one call. */
import { ApprovalWanted, OwnedElsewhere, type Runtime, type ToolDefinition, contractOf } from "@pawl/runtime";
import type { Stickiness } from "@pawl/runtime/driver";
import {
  type Codec,
  type Json,
  array,
  json,
  oneOf,
  optional,
  record,
  stableHash,
  string,
  tagged,
  u64,
} from "@pawl/tool-value";
import { answer, sessionOf } from "@pawl/wire/host";
import { answered, nothing } from "../body.ts";
import { answeredWhenNew } from "../when-new.ts";
import { prefixesOf, refuseNone } from "./prefix.ts";
import { type Asked, type Caller, countIn, principal, route, scopeIn, whenNew } from "./route.ts";

interface DecisionFields {
  /** Hash of the arguments that the decider saw. */
  readonly hash: string;
  readonly sticky?: Stickiness;
  readonly decision_id?: string;
}
type Decision = DecisionFields &
  ({ readonly decision: "approve"; readonly args?: Json } | { readonly decision: "reject"; readonly reason: string });

const decisionFields = {
  hash: string,
  sticky: optional(oneOf<Stickiness>("a stickiness", "later", "parked_too")),
  decision_id: optional(string),
} as const;
const DecisionCodec: Codec<Decision> = tagged<Decision, "decision">("Decision", "decision", {
  approve: { ...decisionFields, args: optional(json) },
  reject: { ...decisionFields, reason: string },
});

interface Approvals {
  readonly approvals: readonly ApprovalWanted[];
}
const ApprovalsCodec: Codec<Approvals> = record<Approvals>("Approvals", { approvals: array(ApprovalWanted) });

/** One session with calls that wait for a person. */
interface Awaiting {
  readonly session: string;
  readonly title?: string;
  /** How many calls wait. */
  readonly count: number;
  /** The calls; absent where another host has the session. */
  readonly approvals?: readonly ApprovalWanted[];
  readonly address?: string;
}
const AwaitingCodec: Codec<Awaiting> = record<Awaiting>("SessionAwaiting", {
  session: string,
  title: optional(string),
  count: u64,
  approvals: optional(array(ApprovalWanted)),
  address: optional(string),
});

interface AwaitingPage {
  readonly sessions: readonly Awaiting[];
  /** Asks for the next page, as `after`. Absent on the last one. */
  readonly next?: string;
}
const AwaitingPageCodec: Codec<AwaitingPage> = record<AwaitingPage>("AwaitingPage", {
  sessions: array(AwaitingCodec),
  next: optional(string),
});

const kind = "session:";

const schemas = new WeakMap<ToolDefinition, Json>();

/** Returns the schema of a tool's arguments, by which a person edits them. */
const schemaOf = ({ registry }: Runtime, tool: string): Json | undefined => {
  const definition = registry.definitions().find(({ name }) => name === tool);
  if (definition?.inputSchema === undefined) return undefined;
  const known = schemas.get(definition) ?? contractOf(definition).input_schema;
  if (known !== undefined) schemas.set(definition, known);
  return known;
};

/** Adds the schemas of tools to calls that wait; a question of a body's has its own. */
const withSchemas = (runtime: Runtime, wanted: readonly ApprovalWanted[]): readonly ApprovalWanted[] =>
  wanted.map((one) => {
    const schema = one.schema ?? schemaOf(runtime, one.tool);
    return schema === undefined ? one : { ...one, schema };
  });

const awaiting = async (runtime: Runtime, scope: string, count: number): Promise<Awaiting> => {
  const session = scope.slice(kind.length);
  try {
    const open = await runtime.session(session);
    const approvals = withSchemas(runtime, await open.approvals());
    const { title } = open.about;
    return { session, ...(title === undefined ? {} : { title }), count: approvals.length, approvals };
  } catch (thrown) {
    if (!(thrown instanceof OwnedElsewhere)) throw thrown;
    return { session, count, ...(thrown.address === undefined ? {} : { address: thrown.address }) };
  }
};

/** Sessions of one page: their calls are read from the sessions, which may have to be opened for that. */
const mostSessions = 100;
const usualSessions = 20;

const waitingScopes = async (runtime: Runtime, prefixes: readonly string[], after: string, limit: number) => {
  const found: { readonly scope: string; readonly approvals: number }[] = [];
  for (const prefix of prefixes) {
    if (found.length > limit) break;
    const page = { prefix: `${kind}${prefix}`, after: `${kind}${after}`, limit: limit + 1 - found.length };
    found.push(...(await runtime.awaitingApproval(page)));
  }
  return found;
};

const inbox = async (asked: Caller): Promise<Response> => {
  const { runtime, query, claims } = asked;
  const limit = Math.max(1, Math.min(countIn(query, "limit") ?? usualSessions, mostSessions));
  const prefixes = refuseNone(claims, prefixesOf(claims, query.get("prefix") ?? ""));
  return answeredWhenNew(asked, AwaitingPageCodec, async () => {
    const found = await waitingScopes(runtime, prefixes, query.get("after") ?? "", limit);
    const page = found.slice(0, limit);
    const sessions = await Promise.all(page.map(({ scope, approvals }) => awaiting(runtime, scope, approvals)));
    const next = found.length > limit ? page.at(-1)?.scope.slice(kind.length) : undefined;
    return { sessions: sessions.filter(({ count }) => count > 0), ...(next === undefined ? {} : { next }) };
  });
};

const ofSession = async (asked: Caller): Promise<Response> => {
  const session = await sessionOf(asked.runtime, scopeIn(asked), "approvals");
  return answered(ApprovalsCodec, { approvals: withSchemas(asked.runtime, await session.approvals()) });
};

/** Decides. The same decision again, which has the same name or says the same, is answered as it was. */
const decide = async (asked: Asked<Decision>): Promise<Response> => {
  const { decision, decision_id: own, ...said } = asked.body;
  const scope = scopeIn(asked);
  const id =
    own ?? asked.request.headers.get("idempotency-key") ?? stableHash(DecisionCodec.encode(asked.body) as Json);
  const session = await sessionOf(asked.runtime, scope, decision);
  const call = asked.params["call"] as string;
  const frame = { ...said, type: decision, id: 0, scope, call, decision_id: id, again: true } as Parameters<
    typeof answer
  >[1];
  await answer(session, frame, { by: principal(asked), gone: asked.gone });
  return nothing();
};

export const approvalRoutes = [
  route({
    method: "GET",
    path: "/v1/approvals",
    name: "listApprovals",
    what: "Lists the calls that wait for a person, over all sessions that the token covers, by session.",
    asks: "awaiting_approval",
    query: {
      prefix: { type: "string", what: "Only sessions whose names begin so" },
      after: { type: "string", what: "The page behind this session: `next` of the page before" },
      limit: { type: "integer", what: `At most so many sessions: ${usualSessions}, or up to ${mostSessions}` },
    },
    headers: whenNew,
    answers: {
      200: { what: "Sessions with the calls that wait", body: AwaitingPageCodec },
      304: { what: "Nothing new" },
    },
    act: inbox,
  }),
  route({
    method: "GET",
    path: "/v1/sessions/{session}/approvals",
    name: "listSessionApprovals",
    what: "Lists the calls of one session that wait for a person, oldest first.",
    asks: "approvals",
    answers: { 200: { what: "Calls that wait", body: ApprovalsCodec } },
    act: ofSession,
  }),
  route<Decision>({
    method: "POST",
    path: "/v1/sessions/{session}/approvals/{call}",
    name: "decideApproval",
    what: "Approves a call, with other arguments if `args` has them, or rejects it with a reason that its caller reads.",
    asks: "approve",
    headers: { "idempotency-key": { type: "string", what: "The decider's own name for the decision" } },
    body: DecisionCodec,
    answers: { 204: { what: "The decision is recorded" } },
    act: decide,
  }),
];
