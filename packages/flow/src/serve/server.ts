/**
 * Flows over HTTP, as web requests and responses: `POST` and `GET /flows/{name}/…`. Path, query and body give the first
 * bindings; the answer is a stream of events. The program that mounts the server must authenticate requests before.
 */
import type { FlowEnd, FlowExecutionEvent, FlowTool, Program } from "@pawl/sansio-core/driver";
import { type FlowHost, type FlowSubmission, Refused, type Waiting } from "@pawl/runtime";
import { type Json, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type FlowRequest, firstBindings } from "../program.ts";
import { type Controller, type Form, Reader, messages, sse } from "./reader.ts";
import { Wire, type WireName, named, raw, wires } from "./wire.ts";

export interface ServedFlow {
  readonly program: Program;
  /** The names that a request may bind. */
  readonly parameters?: readonly string[];
  /** The pattern of the path after the flow's name: `{city}/{day}`. */
  readonly path?: string;
  readonly tools?: readonly FlowTool[];
  readonly unresolved?: FlowSubmission["unresolved"];
}

/** The part of a session that the server uses. */
export interface FlowSession {
  readonly flow: (given: FlowSubmission, waiting?: Waiting) => Promise<FlowEnd>;
  readonly report: (event: { readonly type: "flow.consumer_gone"; readonly request: string }) => Promise<void>;
}

export interface FlowServerOptions {
  readonly flows: { readonly [name: string]: ServedFlow };
  readonly session: (request: Request) => Promise<FlowSession>;
  /** Returns the id of a request without an `Idempotency-Key`. */
  readonly newId: () => string;
  /** The projection for requests without `?wire=`: all events, the named ones, or all with the flow's result at the end. */
  readonly wire?: WireName;
  /** Ends a flow when its reader leaves. By default the flow goes on without a reader. */
  readonly endsWithReader?: boolean;
  readonly maxBodyBytes?: number;
  readonly keepAliveMs?: number;
  /** The limit of unread bytes. A slower reader is disconnected, and may send the request again. */
  readonly maxBufferedBytes?: number;
}

const defaults = {
  wire: "raw",
  endsWithReader: false,
  maxBodyBytes: 1024 * 1024,
  keepAliveMs: 15_000,
  maxBufferedBytes: 16 * 1024 * 1024,
} as const;
type Options = Required<FlowServerOptions>;

const refused = (status: number, error: string): Response => Response.json({ error }, { status });

const decodedPart = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // The part has an invalid escape.
  }
};

/** Matches path segments against a pattern; returns the captured names, or undefined if they do not match. */
const captured = (pattern: string, segments: readonly string[]): { readonly [name: string]: string } | undefined => {
  const parts = pattern.split("/").filter((part) => part !== "");
  if (parts.length !== segments.length) return undefined;
  const pairs = parts.map(
    (part, i) => [/^\{(?<name>.+)\}$/.exec(part)?.groups?.["name"], part, segments[i] as string] as const,
  );
  if (pairs.some(([name, part, segment]) => name === undefined && part !== segment)) return undefined;
  return Object.fromEntries(pairs.flatMap(([name, , segment]) => (name === undefined ? [] : [[name, segment]])));
};

/** Reads a body as text; resolves with undefined once it exceeds `maxBytes`. */
const textOf = async ({ body }: Request, maxBytes: number): Promise<string | undefined> => {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
};

interface FlowCall {
  readonly name: string;
  readonly served: ServedFlow;
  readonly wire: WireName;
  readonly from: FlowRequest;
}

const bodyOf = async (request: Request, maxBytes: number): Promise<Json | undefined | Response> => {
  if (request.method === "GET") return undefined;
  const text = await textOf(request, maxBytes);
  if (text === undefined) return refused(413, `the body must have at most ${maxBytes} bytes`);
  if (text.trim() === "") return undefined;
  const json = parse(text);
  return E.isLeft(json) ? refused(400, `the body is not JSON: ${json.left.message}`) : json.right;
};

/** Decodes the parts of a path; a part with an invalid escape stays as it is. */
const segmentsOf = (pathname: string): readonly string[] =>
  pathname
    .split("/")
    .filter((part) => part !== "")
    .map((part) => decodedPart(part) ?? part);

const callOf = async (options: Options, request: Request): Promise<FlowCall | Response> => {
  if (request.method !== "GET" && request.method !== "POST") return refused(405, "expected GET or POST");
  const url = new URL(request.url);
  const [root, name, ...segments] = segmentsOf(url.pathname);
  if (name === undefined) return refused(404, "expected /flows/{name}");
  const served = root === "flows" && Object.hasOwn(options.flows, name) ? options.flows[name] : undefined;
  if (served === undefined) return refused(404, `flow '${name}' not deployed`);
  const path = captured(served.path ?? "", segments);
  if (path === undefined) return refused(404, `flow '${name}': expected the path \`${served.path ?? ""}\``);
  const query = Object.fromEntries(url.searchParams);
  const wire = wires.find((known) => known === (query["wire"] ?? options.wire));
  if (wire === undefined) return refused(400, `wire: expected ${wires.join(", ")}, found ${query["wire"]}`);
  const body = await bodyOf(request, options.maxBodyBytes);
  if (body instanceof Response) return body;
  return { name, served, wire, from: body === undefined ? { path, query } : { path, query, body } };
};

/** Returns the last event of a flow that ended before this request came. */
const lastEvent = ({ name: flow_name, backend }: Program, end: FlowEnd): FlowExecutionEvent | undefined => {
  const { ending, steps_executed } = end;
  const tokens = { tokens_input: 0, tokens_output: 0 };
  if (ending.type !== "failed") {
    return {
      kind: "flow_complete",
      flow_name,
      backend,
      success: true,
      steps_executed,
      ...tokens,
      latency_ms: 0,
      timestamp_ms: 0,
    };
  }
  const { error } = ending;
  if (error.type === "UpstreamCancelled" || error.type === "ChannelClosed") return undefined;
  return { kind: "flow_error", flow_name, error: `flow '${flow_name}' failed: ${error.type}`, timestamp_ms: 0 };
};

type Listener = (event: FlowExecutionEvent) => void;

/** Serves flows over HTTP: finds the flow of an address, and shows its events to whoever reads. */
export class FlowServer {
  readonly #options: Options;
  readonly #listeners = new Map<string, Set<Listener>>();

  constructor(options: FlowServerOptions) {
    this.#options = { ...defaults, ...options };
  }

  /** The `observe` hook for the host of the sessions: it passes events to the readers. */
  readonly observe: NonNullable<FlowHost["observe"]> = (_, request, event) => {
    for (const listener of this.#listeners.get(request) ?? []) listener(event);
  };

  /** Answers with a stream of server-sent events. */
  readonly handle = (request: Request): Promise<Response> => this.#answer(request, sse);

  /** Answers with a stream in which each chunk is one frame, as a message. */
  readonly messages = (request: Request): Promise<Response> => this.#answer(request, messages);

  async #answer(request: Request, form: Form): Promise<Response> {
    const call = await callOf(this.#options, request);
    if (call instanceof Response) return call;
    const id = request.headers.get("idempotency-key") ?? this.#options.newId();
    const session = await this.#options.session(request);
    const headers = { "content-type": "text/event-stream", "cache-control": "no-store", "x-request-id": id };
    return new Response(this.#stream(session, id, call, form), { headers });
  }

  #listen(request: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(request) ?? new Set();
    this.#listeners.set(request, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(request) === listeners) this.#listeners.delete(request);
    };
  }

  #stream(
    session: FlowSession,
    request: string,
    { served, wire: projection, from }: FlowCall,
    form: Form,
  ): ReadableStream<Uint8Array> {
    const { program, parameters = [], tools, unresolved } = served;
    const bindings = firstBindings(parameters, from);
    const given = { request, flow: program, bindings, ...(tools === undefined ? {} : { tools }) };
    const wire = new Wire(projection === "named" ? named(request) : raw);
    const { endsWithReader } = this.#options;
    const start = (controller: Controller): Reader => {
      const reader = new Reader(controller, wire, program, { ...this.#options, form });
      reader.onEnd(this.#listen(request, (event) => reader.read(event)));
      session.flow(unresolved === undefined ? given : { ...given, unresolved }).then(
        (end) => reader.end(lastEvent(program, end), projection === "whole" ? end : undefined),
        (error: unknown) => reader.end(failedToRun(program, error)),
      );
      return reader;
    };
    let reader: Reader | undefined;
    const source = {
      start: (controller: Controller): void => {
        reader = start(controller);
      },
      cancel: async (): Promise<void> => {
        reader?.leave();
        if (endsWithReader && !wire.isOver) await reportGone(session, request);
      },
    };
    return new ReadableStream(source, { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 });
  }
}

/** Reports that the reader is gone. A refusal is ignored: the flow has ended meanwhile. */
const reportGone = (session: FlowSession, request: string): Promise<void> =>
  session.report({ type: "flow.consumer_gone", request }).catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error;
  });

/** Returns the event of a flow that did not run. Internal errors are not shown to the client. */
const failedToRun = ({ name: flow_name }: Program, thrown: unknown): FlowExecutionEvent => {
  const error =
    thrown instanceof Refused
      ? `${thrown.code}: ${thrown.message}`
      : "the result of the flow is unknown: send the request again";
  return { kind: "flow_error", flow_name, error, timestamp_ms: 0 };
};
