/** Tests in a real browser, which are left out where there is none, and say so. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { hasChromium, openChromium, withoutChromium } from "./chromium.ts";
import { scriptOf } from "./page.ts";

/** There from the first test on. */
export interface InChromium {
  readonly browser: Browser;
  /** The script of the tests. */
  readonly code: string;
}

/** `script`: a file of the project for the pages of these tests. */
export const inChromium = (title: string, script: string, tests: (at: InChromium) => void): void => {
  describe.skipIf(!hasChromium)(hasChromium ? title : withoutChromium, () => {
    const at = {} as { -readonly [K in keyof InChromium]: InChromium[K] };
    beforeAll(async () => {
      [at.browser, at.code] = await Promise.all([openChromium(), scriptOf(script)]);
    });
    afterAll(() => at.browser.close());
    tests(at);
  });
};
