/**
 * Logins of pages that the host serves: a token is exchanged for a cookie that scripts cannot read, and that other sites
 * cannot send. The cookie is the token, so a restart of the host logs nobody out, and it ends when the token does.
 */
import { Refused } from "@pawl/runtime";
import { Claims } from "@pawl/wire/host";
import { answered, nothing } from "../body.ts";
import { bearerOf, cookieFor } from "../credential.ts";
import { type Caller, route } from "./route.ts";

const known = ({ claims }: Caller): Claims => {
  if (claims === undefined) throw new Refused("unauthorized", "found no token: send `Authorization: Bearer {token}`");
  return claims;
};

const logIn = async (asked: Caller): Promise<Response> => {
  const claims = known(asked);
  const token = bearerOf(asked.request);
  if (token === undefined) throw new Refused("unauthorized", "a login takes a token, and found a cookie only");
  return answered(Claims, claims, 200, { "set-cookie": cookieFor(asked, token, claims.expires_at) });
};

const logOut = async (asked: Caller): Promise<Response> => {
  const response = nothing();
  response.headers.set("set-cookie", cookieFor(asked, "", 0));
  return response;
};

const path = "/v1/login";

export const loginRoutes = [
  route({
    method: "GET",
    path,
    name: "whoAmI",
    what: "Returns the claims of the token, or of the cookie.",
    answers: { 200: { what: "The claims", body: Claims } },
    act: async (asked) => answered(Claims, known(asked)),
  }),
  route({
    method: "POST",
    path,
    name: "logIn",
    what: "Exchanges a token for a cookie of the same rights, for pages of the host's own origin.",
    answers: { 200: { what: "The claims", body: Claims } },
    act: logIn,
  }),
  route({
    method: "DELETE",
    path,
    name: "logOut",
    what: "Removes the cookie.",
    answers: { 204: { what: "It is removed" } },
    act: logOut,
  }),
];
