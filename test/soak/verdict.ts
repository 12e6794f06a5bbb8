/** The verdict of a soak: the rise through the second half of the samples, and its bounds. */
import type { Weighed } from "./run.ts";
import { firstRiseOf, riseOf } from "./slope.ts";

const mebibyte = 1024 * 1024;

/** Bytes over the second half. A leak in each turn adds up to far more within half an hour. */
const mayRise = { heap: 8 * mebibyte, resident: 48 * mebibyte };
/**
 * An ended session leaves its last snapshot and lines, and its processes leave their logs; later sessions leave as much
 * as earlier ones.
 */
const moreThanBefore = 1.25;
/** The file grows in leaps, when its write-ahead log reaches its usual length. */
const leap = 4 * mebibyte;

/** Returns the growth allowed for the sessions started in the second half, by the growth of the first. */
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
