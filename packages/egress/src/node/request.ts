/** A request whose connection goes to an address that was looked at, whatever its name says a moment later. */
import { lookup } from "node:dns/promises";
import { type IncomingMessage, request as plain } from "node:http";
import { request as secure } from "node:https";
import { type LookupFunction, isIP } from "node:net";
import { isRefusedAddress, isRefusedName } from "../address.ts";
import { EgressRefused } from "../refused.ts";

export interface GuardOptions {
  /** Says of an address that is refused that it may be reached all the same. */
  readonly allow?: (address: string, host: string) => boolean;
  /** All addresses of a name; the system's resolver by default. */
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

/** Throws where one address of a host may not be reached: which of them is taken is not ours to say. */
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

const pinned =
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

/** The host as a connection takes it: WHATWG URLs have turned every spelling of an IPv4 address into four decimals. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

const schemes: { readonly [protocol: string]: typeof plain } = { "http:": plain, "https:": secure };

/** The answer's head; redirects are not followed, its body is as it was sent. Rejects with EgressRefused where it may not go. */
export const guardedRequest = (url: URL, asked: GuardedRequest, options: GuardOptions = {}): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const host = hostOf(url);
    const request = schemes[url.protocol];
    if (request === undefined || url.username !== "" || url.password !== "" || isRefusedName(host)) {
      throw new EgressRefused(request === undefined ? url.protocol : host);
    }
    if (isIP(host) !== 0) check(host, [host], options);
    const { body, signal, method, headers = {} } = asked;
    const length = body === undefined ? {} : { "content-length": String(body.length) };
    const how = { method, headers: { ...headers, ...length }, lookup: pinned(options), agent: false as const };
    const sent = request(url, { ...how, ...(signal === undefined ? {} : { signal }) }, resolve);
    sent.on("error", reject);
    sent.end(body);
  });
