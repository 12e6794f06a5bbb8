/** Kills an MCP server in every state of a task, 200 times or as many as are asked for, and asks the next process for the task. */
import { runKills } from "../packages/mcp/test/kill/kills.ts";

const kills = Number(process.argv[2] ?? 200);
const { wrong } = await runKills(kills);
for (const line of wrong) console.error(line);
console.log(
  `${kills} kills: ${wrong.length === 0 ? "nothing was lost, and nothing was done twice" : `${wrong.length} went wrong`}`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
