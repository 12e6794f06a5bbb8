/**
 * The way in over HTTP: hosts and origins against DNS rebinding, bearer tokens, and the metadata by which a client
 * without one finds its authorization server (RFC 9728).
 */
import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import type { Caller, ServerSettings } from "./options.ts";

/** The caller where nobody asks for tokens. */
export const local: Caller = { by: "local" };

const wellKnown = "/.well-known/oauth-protected-resource";

const metadataPath = (url: string): string => {
  const { pathname } = new URL(url);
  return pathname === "/" ? wellKnown : `${wellKnown}${pathname.replace(/\/$/, "")}`;
};

/** Answers the question for the resource's metadata, which anybody may ask; undefined for any other. */
const metadataResponse = ({ resource }: ServerSettings, request: Request): Response | undefined => {
  if (resource === undefined || request.method !== "GET") return undefined;
  const { pathname } = new URL(request.url);
  if (pathname !== metadataPath(resource.url) && pathname !== wellKnown) return undefined;
  return Response.json({
    resource: resource.url,
    authorization_servers: resource.authorizationServers,
    bearer_methods_supported: ["header"],
    ...(resource.scopes === undefined ? {} : { scopes_supported: resource.scopes }),
  });
};

const challenge = ({ resource }: ServerSettings, error: string | undefined): string => {
  const at =
    resource === undefined
      ? undefined
      : `resource_metadata="${new URL(metadataPath(resource.url), resource.url).href}"`;
  const scope = resource?.scopes === undefined ? undefined : `scope="${resource.scopes.join(" ")}"`;
  const parts = [error && `error="${error}"`, at, scope].filter((part) => part !== undefined && part !== "");
  return parts.length === 0 ? "Bearer" : `Bearer ${parts.join(", ")}`;
};

const refused = (settings: ServerSettings, error?: string): Response =>
  Response.json(
    { error: error ?? "unauthorized", error_description: "expected a bearer token of this server" },
    { status: 401, headers: { "www-authenticate": challenge(settings, error) } },
  );

/** Reads the token of a request. */
const callerOf = async (settings: ServerSettings, request: Request): Promise<Caller | Response> => {
  if (settings.verify === undefined) return local;
  const [scheme, token, ...rest] = (request.headers.get("authorization") ?? "").trim().split(/\s+/);
  if (scheme?.toLowerCase() !== "bearer" || token === undefined || rest.length > 0) return refused(settings);
  return (await settings.verify(token, request)) ?? refused(settings, "invalid_token");
};

/** Returns who sent a request, or the answer that turns it away. */
export const admitted = async (settings: ServerSettings, request: Request): Promise<Caller | Response> => {
  const hosts = settings.hosts ?? (settings.verify === undefined ? localhostAllowedHostnames() : undefined);
  const wrongHost = hosts && hostHeaderValidationResponse(request, [...hosts]);
  const wrongOrigin = originValidationResponse(request, [...(settings.origins ?? localhostAllowedOrigins())]);
  return wrongHost ?? wrongOrigin ?? metadataResponse(settings, request) ?? callerOf(settings, request);
};
