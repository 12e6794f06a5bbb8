/** Ops on processes. */
import { knownFields, knownName, UnknownInput, withFields } from "@pawl/testkit";
import * as v from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import type { Rejection } from "../../src/kernel/error.ts";
import { processEffectId, SessionScope, signalWaitKey } from "../../src/identity/scope.ts";
import { cancelRequest, eventPayloadHash, registrationHash, wakeId } from "../../src/process/hash.ts";
import { type Appended, appendEvent, dedupeKeyOf, eventIdentityOf, wakeText } from "../../src/process/append.ts";
import {
  parseHandle,
  ProcessAwaitOutput,
  ProcessEvent,
  ProcessEventType,
  ProcessStatus,
} from "../../src/message/process.ts";
import {
  checkRegistration,
  completionRequest,
  coreEventTypes,
  identityOf,
  register,
} from "../../src/process/registration.ts";
import type * as m from "../../src/process/model.ts";
import { outputOfAwait } from "../../src/process/output.ts";
import { signalRequest } from "../../src/process/signal.ts";
import { type Input, listOf, objectOf, textOf } from "./input.ts";

type Result<A> = E.Either<Rejection | v.ValueError, A>;

const processIdOf = (input: Input): string => textOf(input["process_id"]) ?? "p1";

/** The outputs that cases call by name. */
const ends: { readonly [name: string]: v.Json } = {
  success: { type: "success", value: null },
  failure: { type: "failure", class: "execution", code: "failed", message: "failed" },
  cancelled: { type: "cancelled", message: "cancelled" },
};

/** One append as a case writes it: an event, or an end. */
const requestOf = (processId: string, step: Input): Result<m.ProcessEventAppendRequest> => {
  const { complete, cancel, t, p, k } = step;
  const [which, ...others] = ["complete", "cancel", "t"].filter((kind) => step[kind] !== undefined);
  if (which === undefined || others.length > 0)
    throw new UnknownInput("step", Object.keys(step).join(" "), ["complete", "cancel", "t"]);
  if (cancel !== undefined) return E.right(cancelRequest(processId, textOf(cancel) ?? null).request);
  if (complete !== undefined) {
    const output =
      typeof complete === "string"
        ? { ...objectOf(ends[knownName("word", complete, Object.keys(ends))]), ...step }
        : complete;
    return E.map((end: m.ProcessAwaitOutput) => completionRequest(processId, end))(v.read(ProcessAwaitOutput, output));
  }
  knownFields(step, ["t", "p", "k", "invalid"]);
  const key = textOf(k);
  const replay = key === undefined ? {} : { replay: { key } };
  return E.right({ event_type: textOf(t) ?? "", payload: p ?? null, ...replay });
};

const plainType = (name: string): m.ProcessEventType => ({ name, payload_schema: { schema: {} }, semantics: {} });
const coreNames = coreEventTypes.map(({ name }) => name);

const isUndeclared = /undeclared|unknown/;

/** Where a case does not declare event types, it means those that it appends; but for what it calls undeclared. */
const declaredTypes = (input: Input): Result<readonly m.ProcessEventType[]> => {
  const declared = input["event_types"] ?? input["declared"];
  if (declared === undefined) {
    const names = new Set(listOf(input["appends"]).flatMap((step) => textOf(objectOf(step)["t"]) ?? []));
    return E.right([...names].filter((name) => !coreNames.includes(name) && !isUndeclared.test(name)).map(plainType));
  }
  return E.traverseArray((type: v.Json) =>
    typeof type === "string"
      ? E.right(plainType(type))
      : v.read(ProcessEventType, { payload_schema: { schema: {} }, ...objectOf(type) }),
  )(listOf(declared));
};

const registeredRow = (input: Input): Result<m.ProcessRow> =>
  pipe(
    declaredTypes(input),
    E.map((event_types): m.ProcessRegistration => {
      const [id, work] = [processIdOf(input), { type: "external" as const, metadata: null }];
      const provenance = { originator: { type: "host" as const } };
      return { id, input: work, identity: identityOf(work), event_types, provenance };
    }),
    E.chainW(checkRegistration),
    E.chainW((registration) => register(undefined, registration, registrationHash(registration), 1000)),
    E.map(({ row }) => row),
  );

const appendStep = (row: m.ProcessRow, step: Input): Result<Appended> =>
  pipe(
    requestOf(row.registration.id, step),
    E.chainW((request) => {
      const payloadHash = eventPayloadHash(request.event_type, request.payload).hash;
      const invalid = textOf(step["invalid"]);
      const verdict = invalid === undefined ? {} : { invalid };
      return appendEvent(row, { processId: row.registration.id, request, payloadHash, at: 2000, ...verdict });
    }),
  );

const appendAll = (input: Input): Result<unknown> => {
  const start = registeredRow(input);
  if (E.isLeft(start)) return start;
  let row = start.right;
  const appends: Appended[] = [];
  for (const step of listOf(input["appends"])) {
    const appended = appendStep(row, objectOf(step));
    if (E.isLeft(appended)) return appended;
    row = appended.right.row;
    appends.push(appended.right);
  }
  return E.right({
    sequences: appends.map(({ event }) => event.sequence),
    replayed: appends.map(({ isReplay }) => isReplay),
    events: appends.map(({ event }) => ProcessEvent.encode(event)),
    state: row.status.state,
    status: ProcessStatus.encode(row.status),
  });
};

const requestSeen = (request: m.ProcessEventAppendRequest): object => {
  const { canonical, hash } = eventPayloadHash(request.event_type, request.payload);
  const { event_type, payload } = request;
  return { event_type, payload, canonical, payload_hash: hash, replay_key: request.replay?.key ?? null };
};

const signalled = (input: Input): Result<unknown> => {
  const [processId, name] = [processIdOf(input), textOf(input["signal_name"]) ?? ""];
  const signalId = textOf(input["signal_id"]) ?? "";
  const { ordinal, payload = null } = input;
  return E.map((request: m.ProcessEventAppendRequest) => ({
    ...requestSeen(request),
    effect_id: processEffectId({ op: "signal", process_id: processId, signal_name: name, signal_id: signalId }),
    wait_key: typeof ordinal === "number" ? signalWaitKey(processId, name, ordinal) : null,
  }))(signalRequest({ processId, name, signalId, payload }));
};

/** A case that only asks for the text tells nobody in particular. */
const targetOf = (target: v.Json | undefined): E.Either<v.ValueError, SessionScope | undefined> =>
  target === undefined || target === null ? E.right(undefined) : v.read(SessionScope, target);

const woken = (input: Input): E.Either<v.ValueError | { readonly message: string }, unknown> =>
  pipe(
    E.Do,
    E.bindW("target", () => targetOf(input["target"])),
    E.bindW("dedupe_key", () => {
      const dedupe = (input["dedupe"] ?? "event_identity") as m.WakeDedupe;
      const identity = eventIdentityOf(processIdOf(input), input["sequence"] as number);
      return E.mapLeft((message: string) => ({ message }))(dedupeKeyOf(dedupe, input["payload"] ?? null, identity));
    }),
    E.bindW("input", () => {
      const selector = (input["input"] ?? "payload") as v.ProcessValueSelector;
      const isSelector = v.ProcessValueSelector.is(selector);
      const selected = isSelector ? v.select(selector, input["payload"] ?? null) : E.right(selector as v.Json);
      return E.bimap((message: string) => ({ message }), v.render)(selected);
    }),
    E.map(({ target, dedupe_key, input: rendered }) => {
      const [process_id, sequence] = [processIdOf(input), input["sequence"] as number];
      const wake = { process_id, sequence, event_type: textOf(input["event_type"]) ?? "", input: rendered };
      const text = wakeText(wake);
      const id = target === undefined ? {} : wakeId(target, dedupe_key);
      return { ...id, dedupe_key, input: rendered, text, model_text: text };
    }),
  );

export const processAdapters = {
  "process.append_sequence": withFields(["process_id", "event_types", "declared", "appends"], appendAll),
  "process.cancel_request": withFields(["process_id", "reason"], (input: Input) => {
    const { request } = cancelRequest(processIdOf(input), textOf(input["reason"]) ?? null);
    const effect_id = processEffectId({ op: "cancel", process_id: processIdOf(input) });
    return E.right({ ...requestSeen(request), effect_id });
  }),
  "process.complete": withFields(["process_id", "await_output"], (input: Input) =>
    E.map((output: m.ProcessAwaitOutput) => ({
      ...requestSeen(completionRequest(processIdOf(input), output)),
      output: v.ToolCallOutput.encode(outputOfAwait(output)),
    }))(v.read(ProcessAwaitOutput, input["await_output"])),
  ),
  "process.parse_handle": withFields(["handles"], (input: Input) => {
    const parsed = listOf(input["handles"]).map(parseHandle);
    const errors = parsed.map((handle) => (E.isLeft(handle) ? handle.left : null));
    return E.right({ errors, ids: parsed.map((handle) => (E.isRight(handle) ? handle.right : null)) });
  }),
  "process.signal": withFields(["process_id", "signal_name", "signal_id", "ordinal", "payload"], signalled),
  "process.wake": withFields(["target", "process_id", "event_type", "sequence", "input", "dedupe", "payload"], woken),
};
