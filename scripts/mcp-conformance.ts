/**
 * Runs the official conformance suite of MCP against our server and our client, offline. `--json` prints the counts and nothing
 * else; without it the suite's own words come first.
 */
import { runSuite } from "../packages/mcp/test/conformance/suite.ts";

const { figures, text } = await runSuite();
if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify(figures)}\n`);
else {
  process.stdout.write(text);
  for (const [name, { passed, total }] of Object.entries(figures)) console.log(`${name}: ${passed} of ${total}`);
}
process.exitCode = Object.values(figures).every(({ passed, total }) => passed === total && total > 0) ? 0 : 1;
