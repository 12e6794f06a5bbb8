/** Requests of a session: submitted, joined, waited for, cancelled, acknowledged, listed. */
import { type CallOfRequest, type Reply, RequestStatus, type Session } from "@pawl/runtime";
import { CallOfRequestCodec, ReplyCodec } from "@pawl/runtime/driver";
import { type Codec, type Json, array, json, optional, record, string } from "@pawl/tool-value";
import { answer, sessionOf } from "@pawl/wire/host";
import { answered, nothing } from "../body.ts";
import { type Asked, type Caller, countIn, principal, route, scopeIn } from "./route.ts";
import { lookedAt, prefer, waited } from "./waited.ts";

interface Submission {
  readonly calls: readonly CallOfRequest[];
  readonly execution_scope?: string;
}
const SubmissionCodec: Codec<Submission> = record<Submission>("Submission", {
  calls: array(CallOfRequestCodec),
  execution_scope: optional(string),
});

/** A request with its replies, once it is over. */
interface RequestView {
  readonly status: RequestStatus;
  readonly replies?: readonly Reply[];
  readonly triggers?: readonly Json[];
}
const RequestViewCodec: Codec<RequestView> = record<RequestView>("Request", {
  status: RequestStatus,
  replies: optional(array(ReplyCodec)),
  triggers: optional(array(json)),
});

interface RequestList {
  readonly requests: readonly RequestStatus[];
}
const RequestListCodec: Codec<RequestList> = record<RequestList>("RequestList", { requests: array(RequestStatus) });

const viewOf = async (session: Session, request: string, gone: AbortSignal): Promise<RequestView> => {
  const { status, replies } = await lookedAt(session, request, gone);
  if (replies === undefined) return { status };
  const { triggers } = replies;
  return { status, replies: [...replies], ...(triggers === undefined ? {} : { triggers }) };
};

const opened = (asked: Caller, asks: "call" | "replies"): Promise<Session> =>
  sessionOf(asked.runtime, scopeIn(asked), asks);

const requestIn = ({ params }: Caller): string => params["request"] as string;

const pathOf = ({ base, params }: Caller): string =>
  `${base}/v1/sessions/${encodeURIComponent(params["session"] as string)}/requests/${encodeURIComponent(params["request"] as string)}`;

const submit = async (asked: Asked<Submission>): Promise<Response> => {
  const { request: web, body, gone } = asked;
  const session = await opened(asked, "call");
  const request = requestIn(asked);
  const traceparent = web.headers.get("traceparent");
  const how = {
    by: principal(asked),
    keep: true,
    ...(body.execution_scope === undefined ? {} : { executionScope: body.execution_scope }),
    ...(traceparent === null ? {} : { traceparent }),
  };
  const applied = await waited(asked, (signal) => session.request(request, body.calls, { ...how, signal }));
  const view = await viewOf(session, request, gone);
  const headers = { location: pathOf(asked), ...applied };
  return answered(RequestViewCodec, view, view.replies === undefined ? 202 : 200, headers);
};

const look = async (asked: Caller): Promise<Response> => {
  const session = await opened(asked, "replies");
  const request = requestIn(asked);
  const applied = await waited(asked, (signal) => session.replies(request, { keep: true, signal }));
  return answered(RequestViewCodec, await viewOf(session, request, asked.gone), 200, applied);
};

const cancel = async (asked: Caller): Promise<Response> => {
  const { gone } = asked;
  const scope = scopeIn(asked);
  const request = requestIn(asked);
  const session = await sessionOf(asked.runtime, scope, "cancel_request");
  const frame = { type: "cancel_request", id: 0, scope, request, again: true } as const;
  await answer(session, frame, { by: principal(asked), gone });
  return answered(RequestViewCodec, await viewOf(session, request, gone));
};

const cancelCall = async (asked: Caller): Promise<Response> => {
  const scope = scopeIn(asked);
  const session = await sessionOf(asked.runtime, scope, "cancel_call");
  const frame = { type: "cancel_call", id: 0, scope, call: asked.params["call"] as string, again: true } as const;
  await answer(session, frame, { by: principal(asked), gone: asked.gone });
  return nothing();
};

const acknowledge = async (asked: Caller): Promise<Response> => {
  await (await opened(asked, "replies")).acknowledge(requestIn(asked));
  return nothing();
};

const mostListed = 1000;

const list = async (asked: Caller): Promise<Response> => {
  const session = await sessionOf(asked.runtime, scopeIn(asked), "requests");
  const after = countIn(asked.query, "after");
  const limit = Math.min(countIn(asked.query, "limit") ?? 100, mostListed);
  const requests = await session.requests({ limit, ...(after === undefined ? {} : { after }) });
  return answered(RequestListCodec, { requests });
};

const one = "/v1/sessions/{session}/requests/{request}";

export const requestRoutes = [
  route<Submission>({
    method: "POST",
    path: one,
    name: "submitRequest",
    what: "Submits calls. The same request again joins it; another one under the same name is refused.",
    asks: "call",
    headers: { ...prefer, traceparent: { type: "string", what: "The caller's span (W3C Trace Context)" } },
    body: SubmissionCodec,
    answers: {
      200: { what: "It is over: its replies", body: RequestViewCodec },
      202: { what: "It is recorded, and goes on: ask at `Location`", body: RequestViewCodec },
    },
    act: submit,
  }),
  route({
    method: "GET",
    path: one,
    name: "getRequest",
    what: "Returns a request, with its replies once it is over.",
    asks: "replies",
    headers: prefer,
    answers: { 200: { what: "The request", body: RequestViewCodec } },
    act: look,
  }),
  route({
    method: "DELETE",
    path: one,
    name: "cancelRequest",
    what: "Cancels a request. Its bodies are told, and it is over when they have ended.",
    asks: "cancel_request",
    answers: { 200: { what: "The cancel is recorded", body: RequestViewCodec } },
    act: cancel,
  }),
  route({
    method: "POST",
    path: `${one}/acknowledge`,
    name: "acknowledgeRequest",
    what: "Says that the replies have arrived: until then the session keeps them.",
    asks: "acknowledge",
    answers: { 204: { what: "It is recorded" } },
    act: acknowledge,
  }),
  route({
    method: "GET",
    path: "/v1/sessions/{session}/requests",
    name: "listRequests",
    what: "Lists the requests of a session, oldest first.",
    asks: "requests",
    query: {
      after: { type: "integer", what: "Only those that were submitted after this event: `seq` of the last one" },
      limit: { type: "integer", what: `At most so many: 100, or up to ${mostListed}` },
    },
    answers: { 200: { what: "Requests", body: RequestListCodec } },
    act: list,
  }),
  route({
    method: "DELETE",
    path: "/v1/sessions/{session}/calls/{call}",
    name: "cancelCall",
    what: "Cancels one call.",
    asks: "cancel_call",
    answers: { 204: { what: "The cancel is recorded" } },
    act: cancelCall,
  }),
];
