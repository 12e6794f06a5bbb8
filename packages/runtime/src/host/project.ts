/** What a model gets to read of a result, where the host has a word in it. */
import type { Command, Event, State } from "@pawl/sansio-core";
import { type Json, ModelToolReturnPart, type ToolCallOutput, array, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { placeOf } from "./call-place.ts";
import { textOf } from "../error.ts";
import type { ToolHost } from "./tool-host.ts";
import type { Values } from "../scope/values.ts";

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

const Parts = array(ModelToolReturnPart);

const partsOf = async (project: Projector, call: ProjectedCall): Promise<Json> => {
  try {
    const said = await project(call);
    if (said === undefined) return null;
    const parts = read(Parts, Parts.encode(said));
    if (E.isLeft(parts)) throw new TypeError(`the projected parts do not fit: ${describe(parts.left)}`);
    return Parts.encode(parts.right) as Json;
  } catch (thrown) {
    return [{ type: "text", text: textOf(thrown) }];
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
