/** The inspector over 50,000 events in Chromium: time to its first content, and frames while scrubbing. */
import { type Coping, copeWith, droppedIn, quantile } from "../../packages/inspector/test/long-log.ts";
import { hasChromium } from "../../test/runtime/chromium.ts";
import type { Figure } from "./figure.ts";

const frames = 400;

let measured: Promise<Coping> | undefined;
/** Measured once for all figures. */
const coping = (): Promise<Coping> => (measured ??= copeWith(50_000, frames));

const inspectorOnly: readonly Figure[] = [
  {
    name: "inspector.paint_ms",
    what: "50,000 events of 10 MB, until the first of them are painted",
    unit: "ms",
    bound: 1000,
    rounds: 1,
    round: async () => ({ value: (await coping()).painted, floor: 1 }),
  },
  {
    name: "inspector.whole_ms",
    what: "until all of them are read, folded and drawn",
    unit: "ms",
    bound: 5000,
    rounds: 1,
    round: async () => ({ value: (await coping()).whole, floor: 1 }),
  },
  {
    name: "inspector.frame",
    what: "frames while scrubbing, p99, relative to those while nothing is done",
    unit: "ms",
    bound: 2,
    rounds: 1,
    round: async () => {
      const { scrubbed, idle } = await coping();
      return { value: quantile(scrubbed, 0.99), floor: quantile(idle, 0.99) };
    },
  },
  {
    name: "inspector.busy_ms",
    what: "of its processor that the page's thread takes for such a frame, whatever else the machine does",
    unit: "ms",
    bound: 16,
    rounds: 1,
    round: async () => ({ value: (await coping()).busy, floor: 1 }),
  },
  {
    name: "inspector.dropped",
    what: `frames of more than 32 ms while scrubbing, of ${frames}`,
    unit: "frames",
    bound: frames / 100,
    rounds: 1,
    round: async () => ({ value: droppedIn((await coping()).scrubbed), floor: 1 }),
  },
];

const renew = (): void => {
  measured = undefined;
};

export const inspectorFigures: readonly Figure[] = hasChromium
  ? inspectorOnly.map((figure) => ({ ...figure, renew }))
  : [];
