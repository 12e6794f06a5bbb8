/** A page whose later files are slow to come, or do not come at first: nothing that is said meanwhile is lost. */
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { hasChromium, openChromium, withoutChromium } from "../../../test/runtime/chromium.ts";
import { chunksOf, origin } from "../../../test/runtime/page.ts";
import { pathOf } from "../../../test/project.ts";

const slowMs = 3000;

interface Timed {
  readonly came: unknown;
  readonly ms: number;
}
interface During {
  readonly said: Timed;
  readonly beside: Timed;
  readonly under: unknown;
}

interface Again {
  readonly first: Timed;
  readonly isLost: boolean;
  readonly second: Timed;
}

describe.skipIf(!hasChromium)(hasChromium ? "a page whose later files are slow" : withoutChromium, () => {
  let browser: Browser;
  let chunks: ReadonlyMap<string, string>;
  let page: Page;
  /** What came late, and what did not come. */
  let [late, lost]: [string[], string[]] = [[], []];
  beforeAll(async () => {
    const file = pathOf("packages/driver-browser/test/page/slow.ts");
    [browser, chunks] = await Promise.all([openChromium(), chunksOf(file)]);
  });
  afterAll(() => browser.close());
  afterEach(() => page.context().close());

  /** A page with all that it begins with; what it asks for after that is slow, and the first so often in vain. */
  const begin = async (name: string, { losses = 0, hasHooks = false } = {}): Promise<void> => {
    let isSlow = false;
    [late, lost] = [[], []];
    page = await (await browser.newContext()).newPage();
    const [own] = chunks.keys();
    await page.route(`${origin}/**`, async (route) => {
      const file = new URL(route.request().url()).pathname.slice(1);
      const body = chunks.get(file);
      if (body === undefined)
        return route.fulfill({ contentType: "text/html", body: `<script type="module" src="/${own}"></script>` });
      if (isSlow && lost.length < losses) {
        lost.push(file);
        return route.abort("connectionfailed");
      }
      if (isSlow) {
        late.push(file);
        await new Promise((resolve) => setTimeout(resolve, slowMs));
      }
      return route.fulfill({ contentType: "text/javascript", body });
    });
    await page.goto(origin);
    await page.waitForFunction("globalThis.suite !== undefined");
    await page.evaluate(`suite.open("${name}", ${hasHooks})`);
    isSlow = true;
  };

  it("cancels a call when they are there, and answers others until then", async () => {
    await begin("cancel");
    const { said, beside, under } = await page.evaluate<During>("suite.cancelled()");
    expect([said.came, beside.came]).toEqual(["done", { status: "success", payload: { by: "ann" } }]);
    expect(under).toEqual({ status: "success", payload: "it heard" });
    expect(late).not.toEqual([]);
    expect(said.ms).toBeGreaterThanOrEqual(slowMs - 5);
    expect(beside.ms).toBeLessThan(slowMs);
  });

  it("parks a call for an approval when they are there, and answers others until then", async () => {
    await begin("approve");
    const { said, beside } = await page.evaluate<During>("suite.approved()");
    expect(said.came).toEqual({ status: "success", payload: { by: "ann" } });
    expect(late).not.toEqual([]);
    expect(said.ms).toBeGreaterThanOrEqual(slowMs - 5);
    expect(beside.ms).toBeLessThan(slowMs);
  });

  it("asks its hooks when they are there, before a call and not after it", async () => {
    await begin("hook", { hasHooks: true });
    const { came, ms } = await page.evaluate<Timed>("suite.hooked()");
    expect(came).toEqual({ status: "success", payload: { by: "the hook" } });
    expect(late).not.toEqual([]);
    expect(ms).toBeGreaterThanOrEqual(slowMs - 5);
  });

  it("asks for them again where they did not come, for whoever asks again", async () => {
    await begin("lost", { losses: 2 });
    const { said, under } = await page.evaluate<During>("suite.cancelledAgain()");
    expect([lost.length, said.came]).toEqual([2, "done"]);
    expect(under).toEqual({ status: "success", payload: "it heard" });
  });

  it("takes no call on that needs one which did not come: said again it is taken", async () => {
    await begin("lost hook", { losses: 1, hasHooks: true });
    const { first, isLost, second } = await page.evaluate<Again>(`suite.again("echo")`);
    expect(first.came).toContain("Failed to fetch");
    expect([lost.length, isLost]).toEqual([1, false]);
    expect(second.came).toEqual({ status: "success", payload: { by: "the hook" } });
  });

  it("loses the session whose body needed one which did not come: opened again it goes on", async () => {
    await begin("lost sleep", { losses: 1 });
    const { first, isLost, second } = await page.evaluate<Again>(`suite.again("sleeps")`);
    expect(first.came).toContain("ScopeLost");
    expect([lost.length, isLost]).toEqual([1, true]);
    expect(second.came).toEqual({ status: "success", payload: { by: "ann" } });
  });
});
