/** `pawl flow run`: runs a flow and prints its steps. */
import { randomUUID } from "node:crypto";
import type { ProgramTools } from "@pawl/flow";
import { Refused, Runtime, memoryJournal } from "@pawl/runtime";
import type { FlowEnd, FlowExecutionEvent } from "@pawl/sansio-core/driver";
import { openRuntime } from "@pawl/driver-node";
import { nodePlatform } from "@pawl/driver-node/operator";
import { type Command, type Input, journalOption } from "../command.ts";
import { CliError, type Exit, exit, usageError } from "../exit.ts";
import type { Terminal } from "../terminal.ts";
import { flowIn, programToolsIn } from "./file.ts";

/** Parses `k=v`; the value may contain `=`. */
const bindingsOf = (input: Input): { readonly [name: string]: string } =>
  Object.fromEntries(
    input.texts("bind").map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw usageError(`--bind expects name=value, found \`${pair}\``, "pawl help flow run");
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );

const wordsOf = (event: FlowExecutionEvent, { paint }: Terminal): readonly string[] => {
  switch (event.kind) {
    case "flow_start":
      return [paint("bold", event.flow_name)];
    case "step_start":
      return [paint("dim", `  ${event.step_index} ${event.step_name} …`)];
    case "step_complete":
      return [
        `  ${event.success ? paint("green", "ok") : paint("red", "failed")} ${event.step_name}: ${event.full_output}`,
      ];
    case "flow_complete":
    case "flow_error":
      return [];
  }
};

const exitOf = (end: FlowEnd, terminal: Terminal): Exit => {
  const { ending, bindings, steps_executed } = end;
  terminal.print({ ending, bindings, steps_executed }, () => {
    if (ending.type === "returned") return ending.value.split("\n");
    if (ending.type === "completed") return ending.output.split("\n");
    return [`${terminal.paint("red", "failed")}: ${JSON.stringify(ending.error)}`];
  });
  return ending.type === "failed" ? exit.wrong : exit.fine;
};

interface Opened {
  readonly runtime: Runtime;
  readonly close: () => Promise<void>;
}

/** Opens a runtime over a journal, so that the flow survives this process, or in memory. */
const opened = (
  file: string | undefined,
  tools: ProgramTools,
  observe: (event: FlowExecutionEvent) => void,
): Opened => {
  const told = {
    tools: tools.definitions,
    host: { flow: { observe: (_: string, __: string, e: FlowExecutionEvent) => observe(e) } },
  };
  if (file !== undefined && file !== "") return openRuntime({ file, ...told });
  const root = { kid: "memory", secret: new Uint8Array(32) };
  const instance = `node:${process.pid}`;
  const runtime = new Runtime({
    journal: memoryJournal(),
    platform: nodePlatform,
    instance,
    roots: { newest: root },
    ...told,
  });
  return { runtime, close: () => runtime.close() };
};

export const flowRun: Command = {
  name: "flow run",
  summary: "Run a flow and print its steps",
  usage: "<file>",
  minArgs: 1,
  maxArgs: 1,
  options: {
    journal: journalOption["journal"] as (typeof journalOption)[string],
    bind: { type: "strings", short: "b", value: "<k=v>", what: "An initial binding; may be repeated" },
    tools: { type: "string", value: "<file>", what: "Tools that the flow may call, declared in JSON" },
    base: { type: "string", value: "<url>", what: "Base address of tools that are declared with a path only" },
    allow: { type: "strings", value: "<address>", what: "A local address that tools may call; may be repeated" },
    session: { type: "string", value: "<name>", what: "The session to run it in (flow)" },
    id: { type: "string", value: "<id>", what: "Its id. The same id continues the run, or prints its result" },
    strict: { type: "boolean", what: "Fail if a tool is missing, instead of using a placeholder" },
  },
  detail:
    "Without a journal the flow runs in memory. With one it continues after a crash, under the same --id. Calculator and\nDateTimeTool need no declaration. Tools of the providers http and mcp may call local addresses only if --allow names\nthem. The exit code is 1 if the flow failed.",
  json: [
    {
      what: "Each event of the flow, by its kind",
      fields:
        "kind, timestamp_ms, flow_name?, backend?, step_name?, step_index?, step_type?, success?, " +
        "full_output?, steps_executed?, tokens_input?, tokens_output?, latency_ms?, error?",
    },
    { what: "At the end", fields: "ending, bindings, steps_executed" },
  ],
  examples: [
    ["pawl flow run bill.json --bind items='tea, milk'", "in memory"],
    ["pawl flow run bill.json --tools tools.json -j journal.db --id bill-1", "continues after a crash"],
    ["pawl flow run bill.json --json", "one JSON document for each event, for a script"],
  ],
  run: async (input, terminal) => {
    const flow = await flowIn(input.positionals[0] ?? "");
    const bindings = bindingsOf(input);
    const tools = await programToolsIn(input.text("tools"), {
      allowed: input.texts("allow"),
      base: input.text("base"),
    });
    const { runtime, close } = opened(input.text("journal") ?? terminal.env["PAWL_JOURNAL"], tools, (event) =>
      terminal.print(event, () => wordsOf(event, terminal)),
    );
    try {
      const session = await runtime.session(input.text("session") ?? "flow");
      const request = input.text("id") ?? randomUUID();
      const unresolved = input.isSet("strict") ? "fail" : "placeholder";
      return exitOf(await session.flow({ request, flow, bindings, tools: tools.tools, unresolved }), terminal);
    } catch (thrown) {
      if (thrown instanceof Refused) throw new CliError(thrown.code, thrown.message, { exit: exit.refused });
      throw thrown;
    } finally {
      await close();
    }
  },
};
