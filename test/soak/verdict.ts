/** How flat a soak was: by how much the line through the second half of its samples rises, and how much it may. */
import type { Weighed } from "./run.ts";
import { firstRiseOf, riseOf } from "./slope.ts";

const mebibyte = 1024 * 1024;

/** Bytes over the second half: what turns leave in memory adds up to far more within half an hour. */
const mayRise = { heap: 8 * mebibyte, resident: 48 * mebibyte };
/** A session that is over leaves its last snapshot and lines, and its processes leave their logs: each as much as before. */
const moreThanBefore = 1.25;
/** The file grows by leaps: the log before it reaches to its usual size. */
const leap = 4 * mebibyte;

/** What as many sessions may add as began in the second half, by what each added in the first. */
const mostOfFile = ({ file, begun }: Weighed): number => {
  const before = firstRiseOf(file) / Math.max(1, firstRiseOf(begun));
  return leap + moreThanBefore * before * Math.max(0, riseOf(begun));
};

export interface Verdict {
  readonly what: "heap" | "resident" | "file";
  readonly now: number;
  readonly rise: number;
  readonly most: number;
}

export const verdictsOf = (weighed: Weighed): readonly Verdict[] => {
  const { heap, resident, file } = weighed;
  const now = (samples: typeof heap): number => samples.at(-1)?.value ?? 0;
  return [
    { what: "heap", now: now(heap), rise: riseOf(heap), most: mayRise.heap },
    { what: "resident", now: now(resident), rise: riseOf(resident), most: mayRise.resident },
    { what: "file", now: now(file), rise: riseOf(file), most: mostOfFile(weighed) },
  ];
};
