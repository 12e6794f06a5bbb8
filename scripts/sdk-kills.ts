/**
 * `pnpm sdk-kills [N] [--sdk NAME] [--seed S] [--at-once M]`: lives N conversations under each SDK whose server is killed with
 * SIGKILL, in moments that a seed chooses, M of them at once, and says what did not hold.
 */
import { parseArgs } from "node:util";
import { live, problemsOf } from "../packages/ai-sdk/test/kill/life.ts";
import { type SdkName, lifeUnder, sdks } from "../packages/ai-sdk/test/kill/sdks.ts";

const { positionals, values } = parseArgs({
  options: { sdk: { type: "string" }, seed: { type: "string" }, "at-once": { type: "string" } },
  allowPositionals: true,
});
const first = Number(values.seed ?? Date.now() % 1_000_000);
const end = first + Number(positionals[0] ?? 50);
const atOnce = Number(values["at-once"] ?? 1);
const wanted = Object.keys(sdks).filter((sdk) => values.sdk === undefined || values.sdk === sdk) as readonly SdkName[];
if (wanted.length === 0) throw new TypeError(`--sdk: expected one of ${Object.keys(sdks).join()}, found ${values.sdk}`);

const counts = { lives: 0, kills: 0, wrong: 0 };

const liveOnce = async (sdk: SdkName, seed: number): Promise<void> => {
  const life = lifeUnder(sdk, seed);
  const lived = await live(life);
  const wrong = problemsOf(lived, sdks[sdk].text);
  counts.lives += 1;
  counts.kills += lived.killed.length;
  counts.wrong += wrong.length > 0 ? 1 : 0;
  const way = life.isStreamed || life.more !== undefined ? "streamed" : "whole";
  console.log(`${sdk} ${seed}: ${life.api}, ${way}, killed ${lived.killed.join(", ")}: ${wrong.join("; ") || "holds"}`);
};

for (const sdk of wanted) {
  let seed = first;
  const oneAfterTheOther = async (): Promise<void> => {
    while (seed < end) await liveOnce(sdk, seed++);
  };
  await Promise.all(Array.from({ length: atOnce }, oneAfterTheOther));
}
console.log(`${counts.lives - counts.wrong} of ${counts.lives} lives hold, ${counts.kills} kills`);
if (counts.wrong > 0) process.exitCode = 1;
