/** `heavy-writer.ts FILE`: appends 60 KB repeatedly and prints each acknowledged sequence. */
import { sqliteJournal } from "../src/index.ts";
import { oneLine } from "./sqlite-rig.ts";

const journal = sqliteJournal(process.argv[2] ?? "", { commits: "inline", writer: true });
const claim = await journal.claim("s", `process ${process.pid}`, 1);
if (claim.type !== "claimed") throw new Error(claim.type);
const text = "x".repeat(60_000);
for (let seq = claim.seq + 1; ; seq++) {
  const [result] = await journal.appendAll([oneLine("s", claim.epoch, seq, text)]);
  if (result?.type !== "ok") throw new Error(JSON.stringify(result));
  process.stdout.write(`${seq}\n`);
  await new Promise((resolve) => void setImmediate(resolve));
}
