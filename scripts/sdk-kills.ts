/**
 * `pnpm sdk-kills [N] [--seed S]`: lives N conversations under the AI SDK whose server is killed with SIGKILL, in moments that
 * a seed chooses, and says what did not hold.
 */
import { parseArgs } from "node:util";
import { lifeOf, live, problemsOf } from "../packages/ai-sdk/test/kill/life.ts";
import { wholeText } from "../packages/ai-sdk/test/kill/model-server.ts";

const { positionals, values } = parseArgs({ options: { seed: { type: "string" } }, allowPositionals: true });
const first = Number(values.seed ?? Date.now() % 1_000_000);

let kills = 0;
for (let seed = first; seed < first + Number(positionals[0] ?? 50); seed++) {
  const life = lifeOf(seed);
  const lived = await live(life);
  kills += lived.killed.length;
  const wrong = [
    ...problemsOf(lived),
    ...(lived.text === wholeText ? [] : [`the message is ${JSON.stringify(lived.text)}`]),
  ];
  const { api, isStreamed } = life;
  console.log(
    `seed ${seed}: ${api}, ${isStreamed ? "streamed" : "whole"}, killed ${lived.killed.join(", ")}: ${wrong.join("; ") || "holds"}`,
  );
  if (wrong.length > 0) process.exitCode = 1;
}
console.log(`${kills} kills`);
