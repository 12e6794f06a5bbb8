/**
 * Waits, resolved from outside. The token in the path is the right: whoever was handed the address may resolve the wait,
 * and nobody else can make one. A service that posts a webhook there needs no token of the host and no form of ours: what
 * it posts is what the body that waits is told.
 */
import { Refused } from "@pawl/runtime";
import { Resolved } from "@pawl/runtime/driver";
import { type Json, Resolution, describe, isObject, json, read, stableHash } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { answered } from "../body.ts";
import { type Asked, route } from "./route.ts";

const resolutionOf = (query: URLSearchParams, payload: Json): Resolution => {
  const status = query.get("status") ?? "ok";
  const found = read(Resolution, { status, payload });
  if (E.isRight(found)) return found.right;
  const form = isObject(payload) || status !== "err" ? "" : ': send {"code", "message"} with status=err';
  throw new Refused("invalid_argument", `the resolution: ${describe(found.left)}${form}`);
};

/** Names a resolution: by what its sender calls it, or by what it says. So a webhook that is posted twice counts once. */
const idOf = ({ headers }: Request, resolution: Resolution): string =>
  headers.get("idempotency-key") ??
  headers.get("webhook-id") ??
  `http:${stableHash(Resolution.encode(resolution) as Json)}`;

const resolve = async ({ runtime, request, params, query, body, claims }: Asked<Json>): Promise<Response> => {
  const resolution = resolutionOf(query, body);
  const outcome = await runtime.resolve(params["token"] as string, resolution, claims?.by, idOf(request, resolution));
  if (outcome.status === "unknown_or_revoked")
    throw new Refused("wait_unknown", "no wait has this token: it was revoked, or never made here");
  if (outcome.status === "too_many_unclaimed")
    throw new Refused("too_many_unclaimed", "too many waits were resolved before anybody waited for them: try later");
  return answered(Resolved, outcome);
};

export const waitRoutes = [
  route<Json>({
    method: "POST",
    path: "/v1/waits/{token}",
    name: "resolveWait",
    what: "Resolves a wait with what the body says. The first resolution counts; the token in the path is the only right needed.",
    query: {
      status: {
        type: "string",
        what: "`ok` (default), `err` (the body has `code` and `message`), `timeout` or `cancelled`",
      },
    },
    headers: {
      "idempotency-key": { type: "string", what: "The sender's own name for it; `webhook-id` counts as well" },
    },
    body: json,
    answers: { 200: { what: "Accepted, or resolved before, and how", body: Resolved } },
    act: resolve,
  }),
];
