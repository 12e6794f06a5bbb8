/** What axe finds wrong with a page, rule by rule; shadow roots included. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];

export const violationsIn = async (page: Page): Promise<readonly string[]> => {
  // A page's policy may forbid a script tag; what the browser is told to evaluate is no script of the page.
  await page.evaluate(source);
  return page.evaluate<
    readonly string[]
  >(`axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) =>
      id + ": " + target.flat().join(" ") + ": " + failureSummary)))`);
};
