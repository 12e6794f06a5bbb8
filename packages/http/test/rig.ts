/** A host on loopback over a store in memory, and requests to it over HTTP. All are closed at the end of a test. */
import { Runtime, type ToolDefinition, memoryJournal } from "@pawl/runtime";
import { type Claims, type Host, type HostOptions, nodePlatform, openHost } from "../../driver-node/src/index.ts";
import { afterEach } from "vitest";
import { everything, secret } from "./claims.ts";

export { everything };
const roots = { newest: { kid: "k1", secret: new Uint8Array(32).fill(7) } };

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

export const runtimeOf = (tools: readonly ToolDefinition[], journal = memoryJournal(), instance = "i1"): Runtime => {
  const runtime = new Runtime({ journal, platform: nodePlatform, tools, instance, roots });
  closings.push(() => runtime.close());
  return runtime;
};

export const hostOf = async (
  tools: readonly ToolDefinition[],
  options: Partial<HostOptions> = {},
): Promise<Host & { readonly runtime: Runtime; readonly http: string }> => {
  const runtime = options.runtime ?? runtimeOf(tools);
  const host = await openHost({ secrets: [secret], ...options, runtime });
  closings.push(() => host.close());
  return Object.assign(host, { runtime, http: host.url.replace(/^ws/, "http") });
};

type Asked = Pick<Host, "sign"> & { readonly http: string };

type Init = Omit<RequestInit, "body"> & {
  readonly body?: unknown;
  readonly as?: Partial<Claims>;
  readonly token?: string;
};

/** Asks as ann, unless `as` says otherwise. */
export const ask = async (host: Asked, path: string, { body, as, token, ...init }: Init = {}): Promise<Response> => {
  const headers = new Headers(init.headers);
  const bearer = token ?? host.sign({ ...everything, ...as });
  if (bearer !== "") headers.set("authorization", `Bearer ${bearer}`);
  if (body !== undefined && !headers.has("content-type")) headers.set("content-type", "application/json");
  const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
  return fetch(`${host.http}${path}`, { ...init, headers, ...sent });
};

/** Returns the status and the JSON of an answer. */
export const read = async (answer: Promise<Response>): Promise<readonly [number, never]> => {
  const response = await answer;
  const text = await response.text();
  return [response.status, (text === "" ? undefined : JSON.parse(text)) as never];
};

export interface Heard {
  readonly id?: string;
  readonly event: string;
  readonly data: never;
}

/** Reads server-sent events until there are as many as wanted, or the stream ends. */
export const heard = async (response: Response, wanted = Infinity): Promise<readonly Heard[]> => {
  const found: Heard[] = [];
  const decoder = new TextDecoder();
  let text = "";
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    text += decoder.decode(next.value, { stream: true });
    const parts = text.split("\n\n");
    text = parts.pop() as string;
    for (const part of parts) {
      const fields = new Map(part.split("\n").map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)]));
      const event = fields.get("event");
      if (event === undefined) continue;
      const id = fields.get("id");
      found.push({ event, data: JSON.parse(fields.get("data") ?? "") as never, ...(id === undefined ? {} : { id }) });
    }
    if (found.length >= wanted) {
      await reader.cancel();
      break;
    }
  }
  return found;
};
