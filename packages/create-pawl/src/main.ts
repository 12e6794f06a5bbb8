#!/usr/bin/env node
/** `npm create pawl [folder] [-- --template NAME]`: asks for what was not said. */
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { CannotCreate, createProject, templates } from "./project.ts";

const usage = "npm create pawl [folder] [-- --template tool|agent|page|mcp]";

const ask = async (question: string, otherwise: string): Promise<string> => {
  if (!process.stdin.isTTY) return otherwise;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await lines.question(`${question} (${otherwise}) `)).trim() || otherwise;
  } finally {
    lines.close();
  }
};

const main = async (): Promise<void> => {
  const { positionals, values } = parseArgs({
    options: { template: { type: "string", short: "t" }, help: { type: "boolean", short: "h" } },
    allowPositionals: true,
  });
  if (values.help === true) return console.log(usage);
  const folder = positionals[0] ?? (await ask("Folder?", "pawl-project"));
  const list = Object.entries(templates).map(([name, what]) => `  ${name}  ${what}`);
  if (values.template === undefined && process.stdin.isTTY) console.log(list.join("\n"));
  createProject(folder, values.template ?? (await ask("Template?", "tool")));
  console.log(`written into ${folder}\nnext: cd ${folder} && npm install && npm test && npm start`);
};

try {
  await main();
} catch (thrown) {
  const isUsage = thrown instanceof CannotCreate || thrown instanceof TypeError;
  if (!isUsage) throw thrown;
  console.error(`create-pawl: ${thrown.message.split("\n")[0]}\nusage: ${usage}`);
  process.exitCode = 2;
}
