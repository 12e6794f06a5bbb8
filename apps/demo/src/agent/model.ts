/** The interface of a model: messages go in, text and calls come out. */
import { type Codec, type Json, array, json, record, string } from "@pawl/tool-value";

export interface ModelCall {
  readonly label: string;
  readonly tool: string;
  readonly args: Json;
}

export type Message =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "model"; readonly text: string; readonly calls: readonly ModelCall[] }
  | { readonly role: "tool"; readonly id: string; readonly result: Json };

/** One answer of a model. Without calls the task is done. */
export interface Turn {
  readonly text: string;
  readonly calls: readonly ModelCall[];
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: Json;
}

export type Model = (messages: readonly Message[], tools: readonly ToolSpec[]) => Promise<Turn>;

const ModelCallCodec: Codec<ModelCall> = record<ModelCall>("a call", { label: string, tool: string, args: json });
export const TurnCodec: Codec<Turn> = record<Turn>("a turn", { text: string, calls: array(ModelCallCodec) });
