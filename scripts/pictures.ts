/** `pnpm pictures [folder]`: takes pictures of the demo's scenes, at three widths, in light and dark. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPage } from "../apps/demo/src/host/bundle.ts";
import { openDemo } from "../apps/demo/src/host/demo.ts";
import { visits } from "../apps/demo/test/visit.ts";
import { openChromium } from "../test/runtime/chromium.ts";

const { values, positionals } = parseArgs({
  options: { all: { type: "boolean", default: false }, only: { type: "string" } },
  allowPositionals: true,
});
const [folder = "docs/pictures"] = positionals;

/** Pictures for the docs; `--all` takes everything. */
const kept = new Set([
  "turn-goes-on-desktop-light",
  "kill-survived-desktop-light",
  "ask-asks-desktop-dark",
  "order-harmed-desktop-light",
]);

const screens = [
  { name: "desktop", width: 1360, height: 850 },
  { name: "tablet", width: 820, height: 1180 },
  { name: "phone", width: 390, height: 844 },
];

const work = mkdtempSync(join(tmpdir(), "pawl-pictures-"));
mkdirSync(folder, { recursive: true });
await buildPage(join(work, "page"));
const demo = await openDemo({ page: join(work, "page"), folder: work });
const browser = await openChromium();
const isWanted = (name: string): boolean =>
  values.only === undefined ? values.all || kept.has(name) : name.includes(values.only);

for (const { name: screen, width, height } of screens)
  for (const colorScheme of ["light", "dark"] as const)
    for (const { id, go, places } of visits) {
      const names = places.map((place) => `${id}-${place}-${screen}-${colorScheme}`);
      if (!names.some(isWanted)) continue;
      const page = await browser.newPage({ viewport: { width, height }, colorScheme });
      await page.goto(`${demo.url}/#${id}`);
      await go(page, async (place) => {
        const name = `${id}-${place}-${screen}-${colorScheme}`;
        if (!isWanted(name)) return;
        await page.waitForTimeout(250);
        await page.screenshot({ path: join(folder, `${name}.png`) });
        console.log(join(folder, `${name}.png`));
      });
      await page.close();
    }
await browser.close();
await demo.close();
rmSync(work, { recursive: true });
