/** All attacks, each a round of some seconds, and how often they are run. */
import { performance } from "node:perf_hooks";
import { manyCalls, patterns, bodyBombs, endlessTools, lyingExecutors } from "./attack/call.ts";
import { jumpClocks } from "./attack/clock.ts";
import { herd, readNothing } from "./attack/crowd.ts";
import { damageFiles, deleteJournal, fillDisk, starveDescriptors } from "./attack/disk.ts";
import { bombFrames, fuzzFrames } from "./attack/frame.ts";
import { spellAddresses, swapLinks } from "./attack/outside.ts";
import { forgeTokens, overstepRights } from "./attack/token.ts";
import { Siege } from "./siege.ts";

type Round = (siege: Siege) => Promise<void>;

/** Attacks on a host that serves an honest client meanwhile. */
const onHost = {
  frames: fuzzFrames,
  "frames that are bombs": bombFrames,
  "forged tokens": forgeTokens,
  "rights of others": overstepRights,
  "readers who read nothing": readNothing,
  herds: herd,
  "10,000 calls in a frame": manyCalls,
  patterns,
  "bodies that are bombs": bodyBombs,
  "spellings of addresses": spellAddresses,
  "swapped links": swapLinks,
  "executors that lie": lyingExecutors,
  "tools that never end": endlessTools,
} satisfies { readonly [name: string]: Round };

/** Attacks on the world of a host of their own. */
const onWorld = {
  "damaged files": damageFiles,
  "a full disk": fillDisk,
  "no descriptors": starveDescriptors,
  "a journal that is gone": deleteJournal,
  "clocks that jump": jumpClocks,
} satisfies { readonly [name: string]: Round };

export interface Row {
  readonly attack: string;
  rounds: number;
  tried: number;
  readonly wrong: string[];
  longestWaitMs: number;
}

export interface HostileOptions {
  readonly seed: number;
  /** Goes on until then, and for one round of each attack at least. */
  readonly ms: number;
  /** Says which attacks are run; without it all are. */
  readonly only?: (attack: string) => boolean;
  readonly told?: (row: Row, seed: number) => void;
}

const names = [...Object.keys(onHost), ...Object.keys(onWorld)];

/** Runs a round of one attack against a host of its own. */
const roundOf = async (attack: string, seed: number): Promise<Siege> => {
  const siege = new Siege(seed);
  try {
    if (attack in onHost) {
      await siege.start();
      await siege.during(() => onHost[attack as keyof typeof onHost](siege));
      await siege.audit();
    } else await onWorld[attack as keyof typeof onWorld](siege);
  } catch (thrown) {
    siege.say(`the round ended with ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`);
  } finally {
    await siege.end();
  }
  return siege;
};

/** Runs rounds of all attacks, one after the other, from a seed. */
export const runHostile = async ({ seed, ms, only, told }: HostileOptions): Promise<readonly Row[]> => {
  const until = performance.now() + ms;
  const chosen = names.filter((name) => only?.(name) !== false);
  const rows = chosen.map((attack): Row => ({ attack, rounds: 0, tried: 0, wrong: [], longestWaitMs: 0 }));
  for (let round = 0; round === 0 || performance.now() < until; round += 1)
    for (const row of rows) {
      if (round > 0 && performance.now() >= until) break;
      const own = (seed + round * 1009) % 2 ** 31;
      const siege = await roundOf(row.attack, own);
      row.rounds += 1;
      row.tried += siege.tried;
      row.longestWaitMs = Math.max(row.longestWaitMs, siege.longestWaitMs);
      for (const wrong of siege.wrong) row.wrong.push(`seed ${own}: ${wrong} (${siege.folder})`);
      told?.(row, own);
    }
  return rows;
};
