/** A background run as it is asked for: of which tool, with what, and what its process is then registered as. */
import type { EventOf } from "@pawl/sansio-core";
import { type ProcessProvenance, type RunDefinition, registrationHash, runKind } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { readRegistration } from "../registration.ts";
import type { LiveTool } from "../../tool/live-tool.ts";

export interface RunRequest {
  readonly run: string;
  readonly task: string;
  readonly tool: LiveTool;
  readonly args: Json;
  /** Without it: the tool's, or `Background {tool}`. */
  readonly title?: string;
  /** Whether its session is told at the end: it is, unless this says no. */
  readonly signal?: boolean;
  readonly provenance: ProcessProvenance;
  readonly envRef: string;
}

const definitionOf = ({ task, tool, args, signal = true }: RunRequest): RunDefinition => {
  const { idempotent, readonly } = tool.manifest.hints;
  return {
    task,
    tool: tool.manifest.name,
    arguments: args,
    reattachable: idempotent === true || readonly === true,
    signal_on_completion: signal,
  };
};

const titleOfRun = ({ title, tool: { manifest } }: Pick<RunRequest, "title" | "tool">): string =>
  title ?? manifest.display_name ?? `Background ${manifest.name}`;

/** The event that asks for it. */
export const runRequested = (request: RunRequest): EventOf<"run.requested"> => {
  const { run, tool, args, provenance, envRef } = request;
  const { id: tool_id, name: tool_name } = tool.manifest;
  const call = { call_id: run, tool_id, tool_name, args, prepared_payload: null };
  const registration = readRegistration({
    id: run,
    input: { type: "tool_call", call },
    identity: { kind: runKind, label: titleOfRun(request), definition: definitionOf(request) },
    event_types: [],
    provenance,
    env_ref: envRef,
  });
  if (E.isLeft(registration)) throw registration.left;
  return { type: "run.requested", registration: registration.right, hash: registrationHash(registration.right) };
};
