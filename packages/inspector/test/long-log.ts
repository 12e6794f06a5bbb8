/** The performance of the inspector with a long log, for a test and for figures. */
import { openChromium } from "../../../test/runtime/chromium.ts";
import { bundle, openPage } from "./host-page.ts";
import { longLog } from "./log.ts";

/** The size of a line, about that of an agent's log. */
const lineSize = 210;

export interface Coping {
  /** Milliseconds until the first paint, and until the whole log was read. */
  readonly painted: number;
  readonly whole: number;
  /** Milliseconds between frames, shortest first: idle, and while scrubbing. */
  readonly idle: readonly number[];
  readonly scrubbed: readonly number[];
  /** Milliseconds of processor time of the page's thread for each frame while scrubbing. */
  readonly busy: number;
  readonly place: string;
  readonly complaints: readonly string[];
}

const sorted = (times: readonly number[]): readonly number[] => times.toSorted((a, b) => a - b);

/** Returns a quantile of sorted times. */
export const quantile = (times: readonly number[], part: number): number =>
  times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;

/** A longer frame counts as dropped, at 60 a second. */
const dropped = 32;
export const droppedIn = (times: readonly number[]): number => times.filter((ms) => ms > dropped).length;

export const copeWith = async (events: number, frames: number): Promise<Coping> => {
  const [browser, code] = await Promise.all([openChromium(), bundle()]);
  try {
    const complaints: string[] = [];
    const page = await openPage(await browser.newContext(), code, complaints);
    await page.evaluate(`void (globalThis.long = ${JSON.stringify(longLog(events, lineSize))})`);
    const opened = await page.evaluate<Pick<Coping, "painted" | "whole">>(`inspect.open("long", globalThis.long)`);
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const busyMs = async (): Promise<number> => {
      const { metrics } = await session.send("Performance.getMetrics");
      return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
    };
    let busy = 0;
    // Idle and scrubbing alternate, so that other work of the machine slows both.
    const [idle, scrubbed]: [number[], number[]] = [[], []];
    for (let n = 0; n < 4; n++) {
      idle.push(...(await page.evaluate<readonly number[]>(`inspect.rest(${frames / 4})`)));
      const before = await busyMs();
      scrubbed.push(...(await page.evaluate<readonly number[]>(`inspect.scrub(${frames / 4})`)));
      busy += (await busyMs()) - before;
    }
    const place = await page.locator(".place").innerText();
    return { ...opened, idle: sorted(idle), scrubbed: sorted(scrubbed), busy: busy / frames, place, complaints };
  } finally {
    await browser.close();
  }
};
