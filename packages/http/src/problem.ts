/** Problems, as RFC 9457 has them: the code of an error, the HTTP status that fits it, and what to do. */
import { type Codec, optional, record, string, stringifyRecord, u64 } from "@pawl/tool-value";
import type { HostError } from "@pawl/wire/frame";

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** Says what was received, what was wanted, and what to do. */
  readonly detail: string;
  /** The code by which programs tell errors apart. */
  readonly code: string;
  /** Set if the same request may succeed later. */
  readonly retryAfterMs?: number;
  /** The address of the host that the scope lives with. */
  readonly address?: string;
}
export const Problem: Codec<Problem> = record<Problem>("Problem", {
  type: string,
  title: string,
  status: u64,
  detail: string,
  code: string,
  retryAfterMs: { wire: "retry_after_ms", field: optional(u64) },
  address: optional(string),
});

type Failure = Omit<HostError, "id">;

const titles: { readonly [status: number]: string } = {
  400: "Bad request",
  401: "Not authenticated",
  403: "Not allowed",
  404: "Not found",
  405: "Method not allowed",
  409: "Conflict",
  410: "Gone",
  413: "Too large",
  415: "Not JSON",
  422: "Refused",
  500: "Failed",
  503: "Unavailable",
};

const statuses: { readonly [code: string]: number } = {
  unauthorized: 401,
  token_expired: 401,
  permission_denied: 403,
  route_unknown: 404,
  scope_unknown: 404,
  request_unknown: 404,
  call_unknown: 404,
  stream_unknown: 404,
  wait_unknown: 404,
  method_unknown: 405,
  request_conflict: 409,
  call_id_conflict: 409,
  wrong_phase: 409,
  stale_decision: 409,
  call_ended: 409,
  moved: 409,
  gone: 410,
  key_gone: 410,
  too_large: 413,
  not_json: 415,
  invalid_json: 400,
  invalid_argument: 400,
  cursor_ahead: 400,
  foreign_cursor: 400,
  overloaded: 503,
  too_many_in_flight: 503,
  too_many_unclaimed: 503,
  scope_lost: 503,
  owned_by: 503,
  scope_is_moving: 503,
  closing: 503,
  journal_unavailable: 503,
  value_not_stored: 503,
  quarantined: 500,
  internal_error: 500,
};

/** Returns the HTTP status of a code. What the session refuses for a reason of its own is 422. */
export const statusOf = (code: string): number => statuses[code] ?? 422;

const webUrl = (address: string): string => address.replace(/^ws/, "http");

/** Returns where the same request is answered, if another host that can be reached has the scope. */
const elsewhere = ({ code, address }: Failure, request: Request | undefined): string | undefined => {
  if ((code !== "owned_by" && code !== "moved") || address === undefined || request === undefined) return undefined;
  const { pathname, search } = new URL(request.url);
  const base = URL.parse(webUrl(address));
  return base?.protocol.startsWith("http") === true ? `${base.origin}${pathname}${search}` : undefined;
};

export const problemOf = ({ code, message, retry_after_ms: retryAfterMs, address }: Failure, status = statusOf(code)) =>
  ({
    type: `urn:pawl:error:${code}`,
    title: titles[status] ?? "Elsewhere",
    status,
    detail: message,
    code,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(address === undefined ? {} : { address }),
  }) satisfies Problem;

export const problemText = (failure: Failure, status?: number): string =>
  stringifyRecord(Problem.encode(problemOf(failure, status)));

const retryHeader = ({ retry_after_ms: ms }: Failure): { readonly [name: string]: string } =>
  ms === undefined ? {} : { "retry-after": String(Math.ceil(ms / 1000)) };

/** Answers with a problem; with a redirect, where the scope lives with another host whose address is known. */
export const problemResponse = (
  failure: Failure,
  request?: Request,
  headers: { readonly [name: string]: string } = {},
): Response => {
  const location = elsewhere(failure, request);
  const status = location === undefined ? statusOf(failure.code) : 307;
  return new Response(problemText(failure, status), {
    status,
    headers: {
      "content-type": "application/problem+json",
      ...retryHeader(failure),
      ...(location === undefined ? {} : { location }),
      ...headers,
    },
  });
};
