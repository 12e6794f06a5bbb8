/** `pawl init`: writes the configuration of a host and a first tool, and says how to go on. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type Command, countOf } from "../command.ts";
import { shellWord } from "../escape.ts";
import { CliError, exit } from "../exit.ts";

const configName = "pawl.json";
const toolsName = "tools.ts";

const firstTool = `import { defineTool } from "@pawl/runtime";

const greet = defineTool({
  name: "greet",
  durable: true,
  execute: async ({ name }: { name: string }, ctx) => {
    const at = await ctx.run("time", () => new Date().toISOString());
    return \`hello \${name}, it was \${at} when I first looked\`;
  },
});

export const tools = [greet];
`;

export const initCommand: Command = {
  name: "init",
  summary: "Write the configuration of a host, and a first tool",
  usage: "[folder]",
  minArgs: 0,
  maxArgs: 1,
  options: {
    journal: { type: "string", short: "j", value: "<journal>", what: "The journal of the host (journal.db)" },
    tools: {
      type: "string",
      value: "<module>",
      what: "The module that exports the tools (tools.ts, written if missing)",
    },
    port: { type: "string", value: "<port>", what: "The port that it listens on (7777)" },
    grant: { type: "string", value: "<name>", what: "The person or program that the token is for (me)" },
  },
  detail:
    "It never overwrites a file. The host listens on loopback, serves Studio at /studio/, and writes a token that is valid for\na day to NAME.token at each start. docs/operations.md lists all fields of the configuration.",
  json: [{ what: "The files that were written", fields: "written, next" }],
  examples: [
    ["pawl init", "pawl.json and tools.ts in this folder"],
    ["pawl init agent --journal postgres://app@db.internal/app", "in the folder agent, for a fleet on a database"],
  ],
  run: async (input, terminal) => {
    const folder = input.positionals[0] ?? ".";
    const [config, journal, tools] = [join(folder, configName), input.text("journal"), input.text("tools")];
    const [port, grant] = [countOf(input, "port") ?? 7777, input.text("grant") ?? "me"];
    if (existsSync(config))
      throw new CliError("config_exists", `${config} is there already`, {
        exit: exit.unreachable,
        hint: `pawl host ${shellWord(config)}`,
      });
    mkdirSync(folder, { recursive: true });
    const written = [config];
    const settings = {
      journal: journal ?? "journal.db",
      tools: tools === undefined ? `./${toolsName}` : `./${relative(folder, tools)}`,
      port,
      studio: true,
      grants: [{ by: grant, file: `${grant}.token` }],
    };
    writeFileSync(config, `${JSON.stringify(settings, undefined, 2)}\n`, { flag: "wx" });
    const module = join(folder, toolsName);
    if (tools === undefined && !existsSync(module)) {
      writeFileSync(module, firstTool, { flag: "wx" });
      written.push(module);
    }
    const next = `${folder === "." ? "" : `cd ${shellWord(folder)} && `}pawl host`;
    terminal.print({ written, next }, () => [
      ...written.map((file) => `${terminal.paint("green", "written")}  ${file}`),
      `next: ${terminal.paint("cyan", next)}`,
    ]);
    return exit.fine;
  },
};
