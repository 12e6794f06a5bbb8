/**
 * The two questions of those who watch a host, without a token: does it live (`/v1/health`), and is it to be sent work
 * (`/v1/ready`). The first asks nothing of the store: a host whose store is away is not helped by a restart. The second
 * is no while the host drains, so that a load balancer sends new clients to the others.
 */
import type { Readiness } from "./lease.ts";

export interface HealthAnswer {
  readonly status: 200 | 405 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

const paths: readonly string[] = ["/v1/health", "/v1/ready"];
const methods: readonly string[] = ["GET", "HEAD"];

const answer = (status: HealthAnswer["status"], said: object, more: HealthAnswer["headers"] = {}): HealthAnswer => ({
  status,
  headers: { "content-type": "application/json", "cache-control": "no-store", ...more },
  body: `${JSON.stringify(said)}\n`,
});

/** Answers a request for one of the two paths; undefined for any other path. */
export const healthAnswer = (
  method: string | undefined,
  path: string,
  { readiness }: { readonly readiness: Readiness },
): HealthAnswer | undefined => {
  if (!paths.includes(path)) return undefined;
  if (!methods.includes(method ?? "")) {
    const error = `${path} is asked by GET, received ${method ?? "no method"}`;
    return answer(405, { error }, { allow: methods.join(", ") });
  }
  const isClosed = readiness === "closed";
  if (path === "/v1/health") return answer(isClosed ? 503 : 200, { status: isClosed ? "closed" : "ok" });
  return readiness === "ready"
    ? answer(200, { status: readiness })
    : answer(503, { status: readiness }, { "retry-after": "1" });
};
