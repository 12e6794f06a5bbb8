/** What a model gets to read of a result, where the host has a word in it. */
import type { Command, Event, State } from "@pawl/sansio-core";
import { type Json, ModelToolReturnPart, type ToolCallOutput } from "@pawl/tool-value";
import { placeOf } from "./call-place.ts";
import type { ToolHost } from "./tool-host.ts";
import type { Values } from "./values.ts";

export interface ProjectedCall {
  readonly sessionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly output: ToolCallOutput;
  readonly durationMs: number;
}

/** Without parts of its own the model reads what it reads of any output. */
export type Projector = (
  call: ProjectedCall,
) => readonly ModelToolReturnPart[] | undefined | Promise<readonly ModelToolReturnPart[] | undefined>;

const partsOf = async (project: Projector, call: ProjectedCall): Promise<Json> => {
  try {
    return ((await project(call))?.map((part) => ModelToolReturnPart.encode(part)) ?? null) as Json;
  } catch (thrown) {
    const text = (thrown instanceof Error ? thrown.message : String(thrown)).toWellFormed();
    return [{ type: "text", text }];
  }
};

export const projectResult = async (
  { host: { project }, values }: { readonly host: ToolHost; readonly values: Values },
  state: State,
  { call, tool, output }: Extract<Command, { readonly type: "result.project" }>,
): Promise<Event> => {
  const row = state.calls.at(call);
  const { session, callId, args } = await values.of(placeOf(state, call));
  const durationMs = row?.phase === "finishing" ? row.durationMs : 0;
  const parts =
    project === undefined
      ? null
      : await partsOf(project, { sessionId: session, callId, tool, args, output, durationMs });
  return { type: "result.projected", call, parts };
};
