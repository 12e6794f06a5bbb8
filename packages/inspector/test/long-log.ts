/** How the inspector copes with a long log: what tests hold it to, and figures measure. */
import { openChromium } from "../../../test/runtime/chromium.ts";
import { bundle, openPage } from "./host-page.ts";
import { longLog } from "./log.ts";

/** An event of the log of the tests takes about so many characters as an event of an agent's. */
const lineSize = 210;

export interface Coping {
  /** Milliseconds until something of it was painted, and until all of it was read. */
  readonly painted: number;
  readonly whole: number;
  /** Milliseconds from one frame to the next, shortest first: while nothing is done, and while one scrubs. */
  readonly idle: readonly number[];
  readonly scrubbed: readonly number[];
  /** Milliseconds of its processor that the page's own thread takes for a frame while one scrubs. */
  readonly busy: number;
  readonly place: string;
  readonly complaints: readonly string[];
}

const sorted = (times: readonly number[]): readonly number[] => times.toSorted((a, b) => a - b);

/** The time that so large a part of them does not exceed. */
export const quantile = (times: readonly number[], part: number): number =>
  times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;

/** Longer than a frame may take that is not dropped, at 60 a second. */
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
    // Idle and scrubbing in turns, so that what else the machine does slows both.
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
