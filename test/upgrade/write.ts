/**
 * `pnpm upgrade-corpus`: wrote the corpus of protocol 1, with the code of the last commit that knew no other. It overwrites
 * nothing: a corpus of a later protocol gets a folder of its own.
 */
import { currentProtocol } from "@pawl/sansio-core";
import { type CoreEntry, coreEntry } from "./core.ts";
import { type Counts, corpusFiles, countsOf, writeEntries } from "./corpus.ts";
import { type Entry, coursesOf, storedScopes } from "./entry.ts";
import { Stage } from "./stage.ts";
import { Dice, features, townOf } from "./town.ts";

/** Each feature comes first in so many towns. */
const rounds = 4;
/** Cuts that are tried until one has live calls. */
const tries = 8;

const cutTown = async (seed: number): Promise<Entry> => {
  const town = townOf(seed);
  const whole = new Stage(town);
  await whole.run();
  const dice = new Dice(seed * 7919);
  for (let n = 1; ; n++) {
    const byTasks = dice.isUnder(50);
    const cut = 1 + dice.below(byTasks ? whole.tasks : whole.lines);
    const deaths = dice.isUnder(40) ? [1 + dice.below(whole.tasks)] : [];
    const stage = new Stage(town, { deaths });
    await stage.run(({ tasks, lines }) => (byTasks ? tasks : lines) >= cut);
    const scopes = await storedScopes(stage.store, stage.host);
    const courses = await coursesOf(stage.store, town.options.sealed);
    const isLive = courses.some(({ phases }) => phases.length > 0);
    if (isLive || n === tries)
      return { town, at: stage.clock.now, ledger: stage.ledger.text, undisturbed: whole.ledger.text, scopes, courses };
  }
};

/** Logs of the core simulation that are written in any case, and the most that are looked through for what is rare. */
const usual = 90;
const most = 1200;
const enough = 6;

const wordsOf = ({ courses }: CoreEntry): readonly string[] =>
  courses.flatMap(({ types, phases }) => [...types, ...phases.map((phase) => `phase ${phase}`)]);

const hasRare = (entry: CoreEntry, counts: Counts): boolean =>
  wordsOf(entry).some((word) => (counts.get(word) ?? 0) < enough);

const cutCore = (): readonly CoreEntry[] => {
  const entries: CoreEntry[] = [];
  for (let seed = 1; seed <= most; seed++) {
    const entry = coreEntry(seed, 40 + ((seed * 37) % 200));
    if (seed <= usual || hasRare(entry, countsOf(entries.map(wordsOf)))) entries.push(entry);
  }
  return entries;
};

if (currentProtocol !== 1) throw new Error("only code of protocol 1 writes its corpus");
const towns: Entry[] = [];
for (let seed = 0; seed < rounds * features.length; seed++) towns.push(await cutTown(seed));
console.log(`${towns.length} towns: ${writeEntries(corpusFiles.towns, towns)} bytes`);
const core = cutCore();
console.log(`${core.length} cuts of the core simulation: ${writeEntries(corpusFiles.core, core)} bytes`);
