/** Tools, their results, and narration. */
import type { Json, JsonObject } from "@pawl/tool-value";
import {
  BuiltinRegistry,
  type BuiltinTool,
  MemoryFiles,
  type ToolContext,
  activate,
  capabilitiesOf,
  contentHash,
  defaultRegistry,
  definitionOf,
  fullParameters,
  headline,
  narrate,
  policyOf,
  readDefinition,
  readReport,
  reportText,
} from "@pawl/tools";
import {
  type ExecutionResult,
  connectionRequired,
  defineTool,
  internalError,
  success,
  successWithImages,
  toolError,
} from "@pawl/runtime";
import { isErrorResult, isSuccess, successWithRawOutput } from "@pawl/runtime/driver";
import { causeChain, registryReply, withoutRawOutput } from "@pawl/runtime/driver";
import { nodeWeb } from "@pawl/tools/node";
import { type Adapters, UnknownInput, knownFields, knownName, withFields } from "@pawl/testkit";
import * as E from "fp-ts/lib/Either.js";
import { failing } from "../failing.ts";
import { type Result, checked, failed, list, mapped, maybeText, object, said, text, textIn } from "./input.ts";

const builtin = defaultRegistry(nodeWeb());
const run = async (
  name: string,
  args: JsonObject,
  more: { readonly now?: () => number; readonly files?: MemoryFiles } = {},
) => {
  const tool = builtin.get(knownName("word", name, builtin.names)) as BuiltinTool;
  return tool.execute(args, { session_id: "s", ...more });
};
const at = (time: Json | undefined): { readonly now?: () => number } =>
  typeof time === "string" ? { now: () => Date.parse(time.includes("T") ? time : `${time}T12:00:00Z`) } : {};

const filesOf = async (files: JsonObject): Promise<MemoryFiles> => {
  const store = new MemoryFiles(() => 0);
  for (const [path, content] of Object.entries(files)) {
    knownFields(object(content), ["content", "encoding", "readonly", "is_readonly", "repeat"]);
    const { content: inner, encoding, readonly, is_readonly: isReadonly = readonly } = object(content);
    const isBase64 = knownName("word", encoding ?? "text", ["text", "base64"]) === "base64";
    const body = textIn(inner ?? content);
    const bytes = isBase64 ? Uint8Array.from(atob(body), (c) => c.charCodeAt(0)) : new TextEncoder().encode(body);
    await store.write(path, bytes, { encoding: isBase64 ? "base64" : "text" });
    if (isReadonly === true) store.protect(path);
  }
  return store;
};

/** Replaces `current` by the hash of the existing file. */
const fileCall = async (input: JsonObject, store: MemoryFiles): Promise<readonly [string, JsonObject]> => {
  const [name, args] = list(input["call"]);
  if (name !== undefined) knownFields(input, ["call", "files", "file_store"]);
  const [path = "/a.txt"] = Object.keys(object(input["files"]));
  const { call: _, files: __, file_store: ___, ...edit } = input;
  const wanted: JsonObject = name === undefined ? { path, ...edit } : object(args);
  const file = wanted["expected_hash"] === "current" ? await store.read(text(wanted["path"])) : undefined;
  const hash = file === undefined ? {} : { expected_hash: contentHash(file.bytes) };
  return [name === undefined ? "edit_file" : text(name), { ...wanted, ...hash }];
};

const ofFiles = async (input: JsonObject): Promise<Result> => {
  const store = await filesOf(object(input["files"]));
  const [name, args] = await fileCall(input, store);
  return said(await run(name, args, input["file_store"] === null ? {} : { files: store }));
};

const named = (name: string, which: string): BuiltinTool => ({
  name,
  description: which,
  parameters: {},
  execute: async () => success(which),
});

/** Returns a tool by its name; an unknown one returns its own name. */
const registered = (names: Json | undefined): BuiltinRegistry =>
  new BuiltinRegistry(
    list(names)
      .map(text)
      .map((name) => builtin.get(name) ?? (name === "failing_tool" ? failing() : named(name, name))),
  );

const seenOf = (own: BuiltinRegistry) => ({
  len: own.size,
  is_empty: own.size === 0,
  isEmpty: own.size === 0,
  definitions: own.definitions().length,
  names: own.names,
  names_sorted: own.names.toSorted(),
});

/** Runs an op on a registry; returns its answer. A tool is named by its registration. */
const done = (own: BuiltinRegistry, [verb = "", name = "", which = ""]: readonly string[]): JsonObject => {
  const seen = seenOf(own);
  switch (knownName("op", verb, ["register", "unregister", "clear", "has", "get", "which", ...Object.keys(seen)])) {
    case "register":
      own.register(named(name, which));
      return {};
    case "unregister":
      return { unregister: own.unregister(name)?.description ?? null };
    case "clear":
      own.clear();
      return {};
    case "has":
      return { has: own.has(name) };
    case "get":
    case "which":
      return { [verb]: own.get(name)?.description ?? null };
    default:
      return { [verb]: seen[verb as keyof typeof seen] };
  }
};

/** Runs ops in order; returns their answers and the state of the registry at the end. */
const afterOps = (ops: readonly Json[]): JsonObject => {
  const own = new BuiltinRegistry();
  const told = ops.map((op) => done(own, list(op).map(text)));
  return Object.assign({}, seenOf(own), ...told);
};

const defaults = () => ({
  len: builtin.size,
  count: builtin.size,
  names_sorted: builtin.names.toSorted(),
  display_names: builtin.definitions().filter((one) => one["display_name"] !== undefined).length,
  absent: ["spawn_background", "bash", "kv_store", "secret_store"].filter((name) => !builtin.has(name)),
});

const executed = async (call: Json | undefined, names: Json | undefined, context?: ToolContext): Promise<Result> => {
  const { id, name, arguments: args = {} } = object(call);
  const own = names === undefined ? builtin : registered(names);
  const reply = await own.execute({ id: text(id), name: text(name), arguments: args }, context);
  return checked(E.isLeft(reply) ? reply : E.right(mapped(reply.right)));
};

const executions = ["execute", "execute_without_context", "execute_with_context"];

const ofRegistry = async (input: JsonObject): Promise<Result> => {
  if (!["ops", "defaults", ...executions].some((op) => input[op] !== undefined))
    throw new UnknownInput("op", Object.keys(input).join(" "), ["ops", "defaults", ...executions]);
  if (input["ops"] !== undefined) return E.right(afterOps(list(input["ops"])));
  if (input["defaults"] === true && input["execute"] === undefined) return E.right(defaults());
  const { execute, execute_without_context: without, execute_with_context: within, registered: names, files } = input;
  if (within === undefined) return executed(without ?? execute, names);
  const place = files === undefined ? {} : { files: await filesOf(object(files)) };
  return executed(within, names, { session_id: "s", ...place });
};

const variants = ["success", "success_with_images", "tool_error", "internal_error", "connection_required"] as const;

const resultIn = (input: JsonObject): ExecutionResult => {
  const value = input["value"] ?? null;
  switch (knownName("word", input["variant"] ?? "success", variants)) {
    case "tool_error":
      return toolError(text(input["message"]));
    case "internal_error":
      return internalError(text(input["message"]));
    case "connection_required":
      return connectionRequired(text(input["provider"]));
    case "success_with_images":
      return successWithImages(
        value,
        list(input["images"]).map((image) => {
          const { base64, media_type } = object(image);
          return { base64: text(base64), media_type: text(media_type) };
        }),
      );
    default:
      return success(value);
  }
};

const chained = (texts: readonly string[]): unknown =>
  texts.reduceRight<Error | undefined>((cause, message) => new Error(message, { cause }), undefined);

const mapping = (input: JsonObject): Result => {
  const chain = input["internal_error_chain"];
  if (chain !== undefined) return E.right({ chain_string: causeChain(chained(list(chain).map(text))) });
  const result = resultIn(input);
  return E.right({
    ...mapped(registryReply(text(input["call_id"]), result)),
    is_success: isSuccess(result),
    is_error: isErrorResult(result),
  });
};

const sidecar = ({ producer, value = null, raw }: JsonObject): Result => {
  const hasRaw = knownName("word", producer, ["success", "with_raw_output"]) === "with_raw_output";
  const made = hasRaw ? successWithRawOutput(value, text(raw)) : success(value);
  if (made.type !== "success") return failed("no success");
  const taken = withoutRawOutput(made.value);
  return E.right({ result: taken.value, raw_output: taken.rawOutput ?? null });
};

const phases = ["started", "waiting", "completed", "failed"] as const;

const narration = (input: JsonObject): Result => {
  const { headline_of, tool, args, phase, hints, display_name, locale } = input;
  const language = maybeText(locale);
  if (headline_of !== undefined) return E.right(headline(list(headline_of).map(text), language) ?? null);
  const name = maybeText(display_name) ?? builtin.get(text(tool))?.displayName;
  const call = { tool: text(tool), args: object(args), hints: object(hints) };
  const shown = name === undefined ? call : { ...call, displayName: name };
  return E.right(narrate(shown, knownName("word", phase ?? "started", phases), language));
};

/** Builds a tool from its description in a case. */
const toolIn = ({ name, description, display_name: shown, parameters, ...more }: JsonObject): BuiltinTool => ({
  ...more,
  ...named(text(name), text(description)),
  parameters: object(parameters),
  ...(typeof shown === "string" ? { displayName: shown } : {}),
});

const definition = (input: JsonObject): Result => {
  const { tool, parse, policy_of, full_parameters_of } = input;
  if (parse !== undefined) return E.right(readDefinition(object(parse)));
  if (policy_of !== undefined) return E.right(policyOf(object(policy_of)));
  if (full_parameters_of !== undefined) return E.right(fullParameters(object(full_parameters_of)));
  const known = typeof tool === "object" ? toolIn(object(tool)) : builtin.get(text(tool));
  return known === undefined ? failed(`no tool ${text(tool)}`) : E.right(definitionOf(known));
};

const activation = ({ tools, explicit }: JsonObject): Result => {
  const known = list(tools).map((tool) => {
    const { name, hints } = object(tool);
    return { ...defineTool({ name: text(name), execute: async () => null }), manifest: { hints: object(hints) } };
  });
  const activated = activate(known, capabilitiesOf({}), list(explicit).map(text));
  const executable = activated.tools.map(({ name }) => name);
  const count = executable.filter((name) => name === "spawn_background").length;
  return E.right({
    executable_has: executable.includes("spawn_background") ? "spawn_background" : null,
    definitions_count_of_spawn_background: count,
  });
};

const progress = async (input: JsonObject): Promise<Result> => {
  const { format } = input;
  if (format !== undefined) knownFields(input, ["format"]);
  if (format !== undefined) {
    const report = readReport(object(format));
    return checked(E.isLeft(report) ? report : E.right(reportText(report.right)));
  }
  return said(await run("report_progress", input));
};

/** Passes the input as the tool's arguments; the tool itself refuses unknown ones. */
const ofArgs =
  (name: string) =>
  async (input: JsonObject): Promise<Result> =>
    said(await run(name, input));

const failingFields = ["message", "internal", "kind"];
const ofFailing = async ({ message, internal, kind }: JsonObject): Promise<Result> => {
  const isInternal = knownName("word", kind ?? "tool", ["tool", "internal"]) === "internal" || internal === true;
  const tool = failing(maybeText(message), isInternal ? "internal_error" : "tool_error");
  return said(await tool.execute({}, undefined));
};

const weather = async (input: JsonObject): Promise<Result> => {
  const result = said(await run(text(input["tool"]), object(input["args"]), at(input["today"])));
  return E.map((value: unknown) => {
    const { forecast } = object(value as Json);
    return forecast === undefined ? value : { ...object(value as Json), forecast_length: list(forecast).length };
  })(result);
};

export const toolAdapters: Adapters = {
  "tools.files": ofFiles,
  "tools.registry": withFields(["ops", "defaults", "registered", "files", ...executions], ofRegistry),
  "tools.tool_result_mapping": withFields(
    ["variant", "call_id", "value", "message", "provider", "images", "internal_error_chain"],
    mapping,
  ),
  "tools.raw_output_sidecar": withFields(["producer", "value", "raw"], sidecar),
  "tools.narration": withFields(["headline_of", "tool", "args", "phase", "hints", "display_name", "locale"], narration),
  "tools.definition_json": withFields(["tool", "parse", "policy_of", "full_parameters_of"], definition),
  "tools.auto_activation": withFields(["tools", "explicit"], activation),
  "tools.report_progress": progress,
  "tools.weather": withFields(["tool", "args", "today"], weather),
  "tools.echo": ofArgs("echo"),
  "tools.write_todos": ofArgs("write_todos"),
  "tools.web_fetch": ofArgs("web_fetch"),
  "tools.math": withFields(["tool", "args"], async ({ tool, args }) => said(await run(text(tool), object(args)))),
  "tools.get_current_time": withFields(["args", "now"], async ({ args, now }) =>
    said(await run("get_current_time", object(args), at(now))),
  ),
  "tools.failing_tool": withFields(failingFields, ofFailing),
};
