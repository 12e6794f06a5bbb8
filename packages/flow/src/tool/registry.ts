/** The tools of one flow: the builtin ones, and those that its program declares, which take precedence. */
import type { Parameter } from "@pawl/sansio-core/driver";
import { endpointOf, stdioName } from "./endpoint.ts";

/** The declaration of a tool. */
export interface ToolEntry {
  readonly name: string;
  readonly provider: string;
  /** `500ms`, `10s`, `2m`, or bare seconds. */
  readonly timeout?: string;
  /** An address, or a path below a base. */
  readonly runtime?: string;
  readonly output_schema?: string;
  readonly effect_row?: readonly string[];
  readonly parameters?: readonly Parameter[];
}

export type Registered = Required<ToolEntry> & { readonly source: "builtin" | "program" };

const registered = (entry: ToolEntry, source: Registered["source"]): Registered => ({
  timeout: "",
  runtime: "",
  output_schema: "",
  effect_row: [],
  parameters: [],
  ...entry,
  source,
});

const builtins: readonly Registered[] = [
  registered({ name: "Calculator", provider: "native", output_schema: "number", effect_row: ["compute"] }, "builtin"),
  registered({ name: "DateTimeTool", provider: "native", effect_row: ["read"] }, "builtin"),
];

/** Returns true for tools with an address, which may be relative to their server's. */
const isAtAddress = ({ provider, runtime }: Registered): boolean =>
  provider === "http" || (provider === "mcp" && stdioName(runtime) === undefined);

/** Returns true for tools that stream their output. */
export const isStreaming = ({ effect_row }: Registered): boolean =>
  effect_row.some((effect) => effect.startsWith("stream:"));

/** Holds the tools of one flow by name; two native ones are there from the start. */
export class Registry {
  readonly #entries: ReadonlyMap<string, Registered>;

  constructor(program: readonly ToolEntry[] = []) {
    const entries = [...builtins, ...program.map((entry) => registered(entry, "program"))];
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
  }

  at(name: string): Registered | undefined {
    return this.#entries.get(name);
  }

  /** Returns the same tools with relative addresses resolved against a server's base. */
  under(base: string): Registry {
    const program = [...this.#entries.values()].filter(({ source }) => source === "program");
    const placed = (entry: Registered): Registered =>
      isAtAddress(entry) ? { ...entry, runtime: endpointOf(entry.runtime, entry.name, base) } : entry;
    return new Registry(program.map(placed));
  }

  /** Lists the names of all tools, sorted. */
  get names(): readonly string[] {
    return [...this.#entries.keys()].toSorted();
  }
}
