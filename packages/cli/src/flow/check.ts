/** `pawl flow check`: checks that flows can run. */
import { CliError, exit } from "../exit.ts";
import type { Command } from "../command.ts";
import type { Terminal } from "../terminal.ts";
import { flowIn } from "./file.ts";

const isFlow = async (file: string, terminal: Terminal): Promise<boolean> => {
  try {
    const { name, nodes } = await flowIn(file);
    terminal.print({ file, ok: true, flow: name, nodes: nodes.length }, () => [
      `${terminal.paint("green", "ok")}  ${file}  ${terminal.paint("dim", `${name}, ${nodes.length} nodes at the top`)}`,
    ]);
    return true;
  } catch (thrown) {
    if (!(thrown instanceof CliError) || thrown.code !== "flow_invalid") throw thrown;
    terminal.print({ file, ok: false, error: { code: thrown.code, message: thrown.message } }, () => [
      `${terminal.paint("red", "not ok")}  ${thrown.message}`,
    ]);
    return false;
  }
};

export const flowCheck: Command = {
  name: "flow check",
  summary: "Check that flows can be read and run",
  usage: "<file…>",
  minArgs: 1,
  maxArgs: Infinity,
  options: {},
  detail: "An error names the path of its node, such as $.nodes[2].then_body[0].target.",
  json: [{ what: "Each file", fields: "file, ok, flow?, nodes?, error?" }],
  examples: [["pawl flow check bill.json", "one flow"]],
  run: async (input, terminal) => {
    let areFlows = true;
    for (const file of input.positionals) areFlows = (await isFlow(file, terminal)) && areFlows;
    return areFlows ? exit.fine : exit.wrong;
  },
};
