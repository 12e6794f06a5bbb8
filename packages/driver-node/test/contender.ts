/** A test process that holds a scope under a long lease, or takes scopes from others and appends to them. */
import { setTimeout as pause } from "node:timers/promises";
import { sqliteJournal } from "../src/index.ts";
import { oneLine } from "./sqlite-rig.ts";

const [path = "", name = "", work = ""] = process.argv.slice(2);
const journal = sqliteJournal(path, { busyMs: 20_000 });

const hold = async (): Promise<void> => {
  await journal.join(name, { ttlMs: 3_600_000 });
  await journal.claim("s", name, 1);
  console.log("holds");
  await pause(3_600_000);
};

/** Claims a scope and appends until it is fenced or done. Prints each acknowledged append. */
const contend = async (): Promise<never> => {
  for (let round = 0; ; round++) {
    const scope = `s${round % 3}`;
    const claim = await journal.claim(scope, name, 1);
    if (claim.type !== "claimed") throw new Error(`claim: ${claim.type}`);
    for (let seq = claim.seq + 1; seq < claim.seq + 6; seq++) {
      const text = ` ${name} ${claim.epoch} ${scope}`;
      const [result] = await journal.appendAll([oneLine(scope, claim.epoch, seq, text)]);
      if (result?.type !== "ok") break;
      console.log(`${seq}${text}`);
      await pause(1);
    }
  }
};

await (work === "hold" ? hold() : contend());
