/** A page whose engine is slow to come, or does not come at first. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium, openChromium, withoutChromium } from "../../../test/runtime/chromium.ts";
import { chunksOf, origin } from "../../../test/runtime/page.ts";
import { pathOf } from "../../../test/project.ts";

const slowMs = 1000;

interface Timed {
  readonly came: unknown;
  readonly ms: number;
}

const success = { status: "success", payload: { by: "ann" } };

describe.skipIf(!hasChromium)(hasChromium ? "a page whose engine is slow" : withoutChromium, () => {
  let browser: Browser;
  let chunks: ReadonlyMap<string, string>;
  let page: Page;
  /** How often the engine came late, and how often it did not come. */
  let [late, lost] = [0, 0];
  beforeAll(async () => {
    const file = pathOf("packages/driver-browser/test/page/slow.ts");
    [browser, chunks] = await Promise.all([openChromium(), chunksOf(file)]);
  });
  afterAll(() => browser.close());
  afterEach(() => page.context().close());

  /** Opens a page; its engine is slow, and is asked for so often in vain. */
  const begin = async ({ losses = 0 } = {}): Promise<void> => {
    [late, lost] = [0, 0];
    page = await (await browser.newContext()).newPage();
    const [own] = chunks.keys();
    await page.route(`${origin}/**`, async (route) => {
      const file = new URL(route.request().url()).pathname.slice(1);
      const body = chunks.get(file);
      if (body === undefined)
        return route.fulfill({ contentType: "text/html", body: `<script type="module" src="/${own}"></script>` });
      if (!file.startsWith("engine-")) return route.fulfill({ contentType: "text/javascript", body });
      if (lost < losses) {
        lost += 1;
        return route.abort("connectionfailed");
      }
      late += 1;
      await new Promise((resolve) => setTimeout(resolve, slowMs));
      return route.fulfill({ contentType: "text/javascript", body });
    });
    await page.goto(origin);
    await page.waitForFunction("globalThis.suite !== undefined");
  };

  const called = (name: string): Promise<Timed> => page.evaluate<Timed>(`suite.called("${name}")`);

  it("opens a tab when the engine is there, and asks for it once", async () => {
    await begin();
    const { came, ms } = await called("slow");
    expect(came).toEqual(success);
    expect(ms).toBeGreaterThanOrEqual(slowMs - 5);
    expect((await called("again")).came).toEqual(success);
    expect(late).toBe(1);
  });

  it("opens no tab without the engine, and asks for it again for whoever asks again", async () => {
    await begin({ losses: 2 });
    expect((await called("lost")).came).toContain("Failed to fetch");
    expect((await called("lost")).came).toContain("Failed to fetch");
    expect((await called("lost")).came).toEqual(success);
    expect([lost, late]).toEqual([2, 1]);
  });
});
