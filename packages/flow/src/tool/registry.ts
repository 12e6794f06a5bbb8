/** The tools of one flow: those that every flow has, and those that its program declares, which come first. */
import type { Parameter } from "@pawl/sansio-core";
import { endpointOf } from "./endpoint.ts";
import { stdioName } from "../remote/mcp-form.ts";

/** How a tool is declared. */
export interface ToolEntry {
  readonly name: string;
  readonly provider: string;
  /** `500ms`, `10s`, `2m`, or bare seconds. */
  readonly timeout?: string;
  /** Where it is reached: an address, or what is added to a base. */
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

/** Whether a program's tool stands at an address, which may be one below its server's. */
const isAtAddress = ({ provider, runtime }: Registered): boolean =>
  provider === "http" || (provider === "mcp" && stdioName(runtime) === undefined);

/** Whether a tool's output comes in pieces. */
export const isStreaming = ({ effect_row }: Registered): boolean =>
  effect_row.some((effect) => effect.startsWith("stream:"));

export class Registry {
  readonly #entries: ReadonlyMap<string, Registered>;

  constructor(program: readonly ToolEntry[] = []) {
    const entries = [...builtins, ...program.map((entry) => registered(entry, "program"))];
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
  }

  at(name: string): Registered | undefined {
    return this.#entries.get(name);
  }

  /** The same tools under a server's base, where their program does not say the whole of their address. */
  under(base: string): Registry {
    const program = [...this.#entries.values()].filter(({ source }) => source === "program");
    const placed = (entry: Registered): Registered =>
      isAtAddress(entry) ? { ...entry, runtime: endpointOf(entry.runtime, entry.name, base) } : entry;
    return new Registry(program.map(placed));
  }

  /** In the order of their names. */
  get names(): readonly string[] {
    return [...this.#entries.keys()].toSorted();
  }
}
