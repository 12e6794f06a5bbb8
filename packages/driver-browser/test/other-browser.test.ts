/** The journal in IndexedDB and the platform of a page do in Firefox and WebKit what they must do everywhere. */
import { describe, expect, it } from "vitest";
import { scriptOf } from "../../../test/runtime/page.ts";
import { missingFor, runtimes } from "../../../test/runtime/runtimes.ts";

const limitMs = 150_000;
const others = runtimes.filter(({ name }) => name === "Firefox ESR" || name === "WebKitGTK");

describe.each(others)("$name", (browser) => {
  const missing = missingFor(browser).map(({ name }) => name);
  const title = missing.length === 0 ? "passes the checks of journals" : `is left out without ${missing.join()}`;
  it.skipIf(missing.length > 0)(title, async () => {
    const code = await scriptOf("packages/driver-browser/test/page/journal.ts");
    const { count, failed } = (await browser.run(
      { code, call: "runAll", argument: null },
      AbortSignal.timeout(limitMs),
    )) as { readonly count: number; readonly failed: readonly string[] };
    expect(failed).toEqual([]);
    expect(count).toBeGreaterThan(45);
  });
});
