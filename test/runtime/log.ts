/** Logs that every runtime has to fold alike: golden ones, the corpus of protocol 1, and those of the core simulation. */
import { basename, dirname } from "node:path";
import { logText, memoryJournal } from "@pawl/runtime";
import { sealedJournal } from "@pawl/runtime/driver";
import { runCoreSim } from "@pawl/testkit/core-sim";
import { files, textOf } from "../project.ts";
import { textOf as simulatedText } from "../upgrade/core.ts";
import { readCore, readTowns } from "../upgrade/corpus.ts";
import { type Entry, restored } from "../upgrade/entry.ts";
import { flipping } from "../upgrade/stage.ts";

export interface NamedLog {
  readonly name: string;
  readonly text: string;
}

/** Reads the golden logs of every protocol. */
export const goldenLogs = (): readonly NamedLog[] =>
  files
    .filter((file) => /\/golden\/(?:\d+\/)?(?!.*\.cmds\.)[^/]+\.jsonl$/.test(file))
    .map((file) => ({ name: `${basename(dirname(file))}/${basename(file)}`, text: textOf(file) }));

const logsOfTown = async ({ town, scopes }: Entry): Promise<readonly NamedLog[]> => {
  const store = await restored(memoryJournal(), scopes);
  const journal = town.options.sealed ? sealedJournal(store, flipping) : store;
  const logs: NamedLog[] = [];
  for (const { scope } of scopes) {
    const lines = await logText(journal, scope);
    if (lines !== undefined) logs.push({ name: `town ${town.seed}: ${scope}`, text: lines.join("") });
  }
  return logs;
};

/** Reads the corpus of protocol 1: logs of towns and of simulations that were cut in the middle. */
export const corpusLogs = async (): Promise<readonly NamedLog[]> => {
  const towns = await Promise.all(readTowns().map(logsOfTown));
  const simulated = readCore().flatMap(({ seed, logs }) =>
    Object.entries(logs).map(([scope, lines]) => ({ name: `simulation ${seed}: ${scope}`, text: lines.join("") })),
  );
  return [...towns.flat(), ...simulated];
};

/** Runs the core simulation from seed 1 on, until it has left this many logs. */
export const mixedLogs = (count: number): readonly NamedLog[] => {
  const logs: NamedLog[] = [];
  for (let seed = 1; logs.length < count; seed++)
    for (const [scope, envelopes] of runCoreSim(seed).logs)
      if (envelopes.length > 0)
        logs.push({ name: `mix ${seed}: ${scope}`, text: simulatedText(scope, envelopes).join("") });
  return logs.slice(0, count);
};
