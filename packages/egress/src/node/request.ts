/**
 * A guard against DNS rebinding. The name is resolved once, every address is checked, and the connection goes to the
 * addresses that were checked.
 */
import { lookup } from "node:dns/promises";
import { type IncomingMessage, request as plain } from "node:http";
import { request as secure } from "node:https";
import { type LookupFunction, isIP } from "node:net";
import { Readable } from "node:stream";
import { EgressRefused, isRefusedAddress, isRefusedName } from "../address.ts";

export interface GuardOptions {
  /** Permits an address that would be refused. */
  readonly allow?: (address: string, host: string) => boolean;
  /** Resolves a name to all its addresses; the system's resolver by default. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

export interface GuardedRequest {
  readonly method: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
}

const systemAddresses = async (host: string): Promise<readonly string[]> =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/** Throws if any address of the host is refused: the socket may pick any of them. */
const check = (host: string, addresses: readonly string[], { allow = () => false }: GuardOptions): void => {
  const refused = addresses.find((address) => isRefusedAddress(address) && !allow(address, host));
  if (refused !== undefined) throw new EgressRefused(host, refused);
};

const addressesOf = async (host: string, options: GuardOptions) => {
  const addresses = await (options.resolve ?? systemAddresses)(host);
  check(host, addresses, options);
  if (addresses.length === 0) throw Object.assign(new Error(`${host} has no address`), { code: "ENOTFOUND" });
  return addresses.map((address) => ({ address, family: isIP(address) }));
};

const checkedLookup =
  (options: GuardOptions): LookupFunction =>
  (host, { all }, done) => {
    addressesOf(host, options).then(
      (addresses) => {
        const [first] = addresses;
        if (all === true) done(null, addresses);
        else done(null, first?.address ?? "", first?.family ?? 0);
      },
      (error: Error) => done(error, ""),
    );
  };

/** Returns the host without brackets. WHATWG URLs have already normalized every spelling of an IPv4 address. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

const schemes: { readonly [protocol: string]: typeof plain } = { "http:": plain, "https:": secure };

/**
 * Resolves with the response once its head has arrived; follows no redirect and decodes no body. Rejects with
 * `EgressRefused` if the target is refused.
 */
export const guardedRequest = (
  url: URL,
  guarded: GuardedRequest,
  options: GuardOptions = {},
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const host = hostOf(url);
    const request = schemes[url.protocol];
    if (request === undefined || url.username !== "" || url.password !== "" || isRefusedName(host)) {
      throw new EgressRefused(request === undefined ? url.protocol : host);
    }
    if (isIP(host) !== 0) check(host, [host], options);
    const { body, signal, method, headers = {} } = guarded;
    const length = body === undefined ? {} : { "content-length": String(body.length) };
    const how = { method, headers: { ...headers, ...length }, lookup: checkedLookup(options), agent: false as const };
    const sent = request(url, { ...how, ...(signal === undefined ? {} : { signal }) }, resolve);
    sent.on("error", reject);
    sent.end(body);
  });

const statusesWithoutBody: ReadonlySet<number> = new Set([101, 204, 205, 304]);

const headersOf = ({ rawHeaders }: IncomingMessage): Headers => {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  return headers;
};

const responseOf = (message: IncomingMessage): Response => {
  const { statusCode: status = 0, statusMessage: statusText = "" } = message;
  const body = statusesWithoutBody.has(status)
    ? null
    : (Readable.toWeb(message) as unknown as ReadableStream<Uint8Array>);
  if (body === null) message.resume();
  return new Response(body, { status, statusText, headers: headersOf(message) });
};

/** Returns a `fetch` that connects to no refused address and follows no redirect: its caller decides on each one. */
export const guardedFetch =
  (options: GuardOptions = {}): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const { url, method, signal } = request;
    const headers = Object.fromEntries(request.headers);
    const body = request.body === null ? {} : { body: new Uint8Array(await request.arrayBuffer()) };
    const message = await guardedRequest(new URL(url), { method, headers, signal, ...body }, options);
    try {
      return responseOf(message);
    } catch (error) {
      message.destroy();
      throw error;
    }
  };
