/** The commands to the registry of processes, and its answers. */
import {
  type Codec,
  type Json,
  array,
  codecFrom,
  defaulted,
  dict,
  json,
  nullable,
  oneOf,
  optional,
  refuse,
  string,
  tagged,
} from "@pawl/tool-value";
import {
  ProcessAwaitOutput,
  ProcessEvent,
  ProcessEventAppendRequest,
  type ProcessListMode,
  ProcessRecord,
  ProcessRegistration,
  SessionScope,
  processEffectId,
  transferEffectId,
} from "@pawl/sansio-core/driver";
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";

export type ProcessCommand =
  | {
      readonly op: "start";
      readonly registration: ProcessRegistration;
      readonly grant?: Json;
      readonly execution_context: { readonly [key: string]: Json };
    }
  | { readonly op: "list"; readonly session_scope: SessionScope; readonly mode: ProcessListMode }
  | {
      readonly op: "transfer";
      readonly from_scope: SessionScope;
      readonly to_scope: SessionScope;
      readonly process_ids: readonly string[];
    }
  | { readonly op: "delete_session"; readonly session_id: string }
  | { readonly op: "await"; readonly process_id: string }
  | { readonly op: "cancel"; readonly process_id: string; readonly reason: string | null }
  | {
      readonly op: "signal";
      readonly process_id: string;
      readonly signal_name: string;
      readonly signal_id: string;
      readonly request: ProcessEventAppendRequest;
    };
const executionContext = defaulted<{ readonly [key: string]: Json }>(
  dict(json),
  {},
  (context) => Object.keys(context).length === 0,
);

export const ProcessCommand: Codec<ProcessCommand> = tagged<ProcessCommand, "op">("ProcessCommand", "op", {
  start: { registration: ProcessRegistration, grant: optional(json), execution_context: executionContext },
  list: { session_scope: SessionScope, mode: oneOf("a list mode", "live", "all") },
  transfer: { from_scope: SessionScope, to_scope: SessionScope, process_ids: array(string) },
  delete_session: { session_id: string },
  await: { process_id: string },
  cancel: { process_id: string, reason: nullable(string) },
  signal: { process_id: string, signal_name: string, signal_id: string, request: ProcessEventAppendRequest },
});

/** The right to use a process, and the process. */
export type GrantedProcess = readonly [grant: Json, record: ProcessRecord];

const item = <A>(codec: Codec<A>, [u, c]: readonly [readonly unknown[], t.Context], index: number): t.Validation<A> =>
  codec.validate(u[index], [...c, { key: `${index}`, type: codec, actual: u[index] }]);

const isPair = (u: unknown): u is readonly [unknown, unknown] => Array.isArray(u) && u.length === 2;

const GrantedProcess: Codec<GrantedProcess> = codecFrom<GrantedProcess>(
  "a grant and its process",
  (u): u is GrantedProcess => isPair(u) && json.is(u[0]) && ProcessRecord.is(u[1]),
  (u, c) => {
    if (!isPair(u)) return refuse(u, c, "invalid length, expected a grant and its process");
    const grant = item(json, [u, c], 0);
    if (E.isLeft(grant)) return grant;
    const process = item(ProcessRecord, [u, c], 1);
    return E.isLeft(process) ? process : E.right([grant.right, process.right]);
  },
  ([grant, process]) => [json.encode(grant), ProcessRecord.encode(process)],
);

export type ProcessOutcome =
  | { readonly op: "start"; readonly record: ProcessRecord }
  | { readonly op: "list"; readonly entries: readonly GrantedProcess[] }
  | { readonly op: "transfer" }
  | { readonly op: "delete_session"; readonly report: Json }
  | { readonly op: "await"; readonly output: ProcessAwaitOutput }
  | { readonly op: "cancel"; readonly record: ProcessRecord }
  | { readonly op: "signal"; readonly event: ProcessEvent };
export const ProcessOutcome: Codec<ProcessOutcome> = tagged<ProcessOutcome, "op">("ProcessOutcome", "op", {
  start: { record: ProcessRecord },
  list: { entries: array(GrantedProcess) },
  transfer: {},
  delete_session: { report: json },
  await: { output: ProcessAwaitOutput },
  cancel: { record: ProcessRecord },
  signal: { event: ProcessEvent },
});

/** Returns the effect id of a command. Equal commands have equal ids. */
export const commandEffectId = (command: ProcessCommand): string => {
  switch (command.op) {
    case "start":
      return processEffectId({ op: "start", process_id: command.registration.id });
    case "list":
      return processEffectId({ op: "list", scope: command.session_scope, mode: command.mode });
    case "transfer":
      return transferEffectId(command.from_scope, command.to_scope, command.process_ids);
    case "delete_session":
    case "await":
    case "cancel":
    case "signal":
      return processEffectId(command);
  }
};
