/** Defines a host in a module, for `pawl host`: its tools, and how their runtime and its host are opened. */
import { Refused, type ToolDefinition } from "@pawl/runtime";
import { unknownKeyIn } from "@pawl/runtime/driver";
import { type OpenOptions, openFields } from "../open.ts";
import type { HostOptions } from "./host.ts";

/** Options of a host that its module decides on. Where it keeps its journal, and where it listens, is the operator's word. */
export interface HostDefinition
  extends
    Omit<OpenOptions, "tools" | "file" | "postgres" | "blobs" | "maxBytes" | "log" | "mover" | "tracer">,
    Pick<HostOptions, "origins" | "limits"> {
  readonly tools: readonly ToolDefinition[];
}

const { file: _, postgres: _p, blobs: _b, maxBytes: _m, log: _l, mover: _mo, tracer: _t, ...fields } = openFields;
const known: { readonly [F in keyof Required<HostDefinition>]: 1 } = { ...fields, origins: 1, limits: 1 };

/** Defines a host: `export default defineHost({ tools, host, options, … })` is what `pawl host` takes. Refuses unknown fields. */
export const defineHost = (definition: HostDefinition): HostDefinition => {
  const unknown = unknownKeyIn("", definition, known);
  if (unknown !== undefined) throw new Refused("invalid_option", `a host: ${unknown}`);
  return definition;
};
