/** The ops of this package for the case runner. Each calls the public API alone. */
import * as E from "fp-ts/lib/Either.js";
import { knownName, withFields } from "@pawl/testkit";
import { type Json, parse, stringify } from "@pawl/tool-value";
import * as flow from "../src/index.ts";
import { type Input, nowMsOf, registryOf, runAdapters, textOf } from "./cases/flow.ts";
import { caseProviders } from "./cases/scope.ts";

const text = (input: Input, field: string): string => textOf(input[field]);

const declarationIn = (input: Input): flow.LambdaData => ({
  name: text(input, "name"),
  ontology: text(input, "ontology"),
  certainty: Number(input["certainty"] ?? 0),
  temporal_frame_start: text(input, "temporal_frame_start"),
  temporal_frame_end: text(input, "temporal_frame_end"),
  provenance: text(input, "provenance"),
  derivation: text(input, "derivation"),
  value: Uint8Array.from(Buffer.from(text(input, "value_hex"), "hex")),
});
const declarationFields = [
  "name",
  "ontology",
  "certainty",
  "temporal_frame_start",
  "temporal_frame_end",
  "provenance",
  "derivation",
  "value_hex",
];
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Encodes a declaration, or decodes bytes. */
const codec = (input: Input): E.Either<flow.DeclarationError, unknown> => {
  if (!("hex" in input)) {
    const encoded = flow.encodeDeclaration(declarationIn(input));
    return E.isLeft(encoded) ? encoded : E.right({ hex: hex(encoded.right) });
  }
  const decoded = flow.decodeDeclaration(Uint8Array.from(Buffer.from(text(input, "hex"), "hex")));
  if (E.isLeft(decoded)) return decoded;
  const { value, ...rest } = decoded.right;
  return E.right({ ...rest, value_hex: hex(value) });
};

/** Without a spec the name has no declaration. */
const psi = (input: Input): E.Either<{ readonly message: string }, Json> => {
  const { spec = null, value = null } = input;
  const declared = spec === null ? flow.declarationOf([], text(input, "name")) : declarationIn(spec as Input);
  const valueText = typeof value === "string" || value === null ? value : stringify(value);
  const envelope = flow.envelope(declared, valueText);
  return E.isLeft(envelope) ? envelope : parse(envelope.right);
};

const answered = ({ success, output }: flow.Answer): { readonly success: boolean; readonly output: string } => ({
  success,
  output,
});

const failureOf = (type: string, detail: string): flow.TransportFailure => {
  switch (knownName("word", type, ["timeout", "connect", "body", "read", "request"])) {
    case "timeout":
      return { type: "timeout" };
    case "connect":
      return { type: "connect" };
    case "body":
    case "read":
      return { type: "body", detail };
    default:
      return { type: "request", detail };
  }
};

const httpResult = (input: Input): flow.Answer => {
  const name = text(input, "tool");
  if (typeof input["status"] === "number") return flow.httpAnswer(input["status"], text(input, "body"));
  const tool = { name, runtime: text(input, "runtime"), timeout: text(input, "timeout") };
  const problem = flow.httpMisfit(name, tool.runtime);
  return problem ?? flow.httpFailure(tool, failureOf(text(input, "failure"), text(input, "detail")));
};

const dispatched = async (input: Input): Promise<E.Either<never, unknown>> => {
  const registry = registryOf(input["registry"] === undefined ? [] : input["registry"]);
  if (registry === undefined) return E.right(null);
  const context = { providers: caseProviders, nowMs: nowMsOf(input), signal: new AbortController().signal };
  const asked = { tool: text(input, "tool"), argument: text(input, "argument") };
  return E.right((await flow.dispatch(registry, context, asked)) ?? null);
};

const endpoint = (input: Input): string => {
  const name = text(input, "tool_name");
  const entry = { name, provider: textOf(input["provider"] ?? "http"), runtime: text(input, "runtime") };
  return new flow.Registry([entry]).under(text(input, "base_url")).at(name)?.runtime ?? "";
};

const projected = (input: Input): unknown => {
  const wire = new flow.Wire(flow.named(input["trace_id"] as number), Number(input["next_id"] ?? 1));
  const { events = [input["event"] ?? null] } = input;
  return { frames: (events as unknown as readonly flow.WireEvent[]).flatMap((event) => wire.frames(event)) };
};

export const adapters = {
  ...runAdapters,
  "flow.calculator": withFields(["expression"], (input: Input) =>
    E.right(answered(flow.calculate(text(input, "expression")))),
  ),
  "flow.datetime": withFields(["query", "now_unix"], (input: Input) =>
    E.right(answered(flow.answerDateTime(text(input, "query"), nowMsOf(input)))),
  ),
  "flow.endpoint": withFields(["tool_name", "provider", "runtime", "base_url"], (input: Input) =>
    E.right(endpoint(input)),
  ),
  "flow.http_body": withFields(["argument"], (input: Input) => E.right(flow.httpBody(text(input, "argument")))),
  // No answer contains the request, so `argument` is ignored.
  "flow.http_result": withFields(
    ["tool", "runtime", "timeout", "argument", "status", "body", "failure", "detail"],
    (input: Input) => E.right(answered(httpResult(input))),
  ),
  "flow.ld_codec": withFields(["hex", ...declarationFields], codec),
  "flow.psi": withFields(["spec", "name", "value"], psi),
  "flow.registry_dispatch": withFields(["registry", "tool", "argument", "now_unix"], dispatched),
  "flow.sse_axon": withFields(["trace_id", "next_id", "event", "events"], (input: Input) => E.right(projected(input))),
  "flow.timeout": withFields(["text"], (input: Input) => E.right(flow.timeoutMs(text(input, "text")))),
};
