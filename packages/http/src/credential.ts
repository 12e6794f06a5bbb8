/** The token of a request: from its header, or from the cookie of a page of the host's own. */
import type { Caller } from "./route/route.ts";

export const bearerOf = ({ headers }: Request): string | undefined =>
  /^Bearer +(?<token>\S+) *$/i.exec(headers.get("authorization") ?? "")?.groups?.["token"];

/** Names the cookie. Hosts on two ports of one machine share their cookies, so the port tells them apart. */
const cookieName = ({ url }: Request): string => `pawl-${new URL(url).port || "default"}`;

/** Tells whether a request comes from a page of the host's own, or from no page: others send the cookie by accident or in malice. */
const isOwn = ({ headers, url }: Request): boolean => {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isSameSite = site === null || site === "same-origin" || site === "none";
  return isSameSite && (origin === null || URL.parse(origin)?.host === new URL(url).host);
};

const cookieIn = (request: Request): string | undefined => {
  if (!isOwn(request)) return undefined;
  const name = cookieName(request);
  const cookies = (request.headers.get("cookie") ?? "").split(";").map((one) => one.trim());
  const token = cookies.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
  return token === "" ? undefined : token;
};

/** Returns the token that a request brings, if any. */
export const tokenIn = (request: Request): string | undefined => bearerOf(request) ?? cookieIn(request);

/** Writes the cookie of a token, which ends when the token does. */
export const cookieFor = (
  { request, base }: Pick<Caller, "request" | "base">,
  token: string,
  expiresAt: number,
): string => {
  const seconds = Math.max(0, Math.floor((expiresAt - Date.now()) / 1000));
  const secure = new URL(request.url).protocol === "https:" ? "; Secure" : "";
  return `${cookieName(request)}=${token}; HttpOnly; SameSite=Strict; Path=${base}/v1; Max-Age=${seconds}${secure}`;
};
