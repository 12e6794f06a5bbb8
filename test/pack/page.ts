/** Code that is for pages, in one: bundled from what is installed in the empty folder, and served under a strict policy. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { pathOf } from "../project.ts";
import { chunksOf, origin } from "../runtime/page.ts";

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'";
const golden = "packages/sansio-core/test/golden/waits.jsonl";

/** What a page came to. */
export interface PageLife {
  readonly said: readonly string[];
  readonly complaints: readonly string[];
  /** What an inspector in it shows of its log. */
  readonly status: string | undefined;
}

const filesOf = async (home: string, name: string): Promise<ReadonlyMap<string, string>> => {
  const entry = join(home, "out", `page-${name}.js`);
  writeFileSync(entry, `import "./${name}.js";\ndocument.title = "over";\n`);
  const chunks = await chunksOf(entry);
  const [own] = chunks.keys();
  const page = `<!doctype html><pawl-inspector></pawl-inspector><script type="module" src="/${own}"></script>`;
  return new Map([...chunks, ["", page], ["session.jsonl", readFileSync(pathOf(golden), "utf8")]]);
};

const typeOf = (name: string): string => (name.endsWith(".js") ? "text/javascript" : "text/html");

/** Opens a page with the code, until that has come to its end, and has said so many lines: some goes on behind it. */
export const liveInPage = async (browser: Browser, home: string, name: string, lines: number): Promise<PageLife> => {
  const files = await filesOf(home, name);
  const page = await browser.newPage();
  const [said, complaints] = [[] as string[], [] as string[]];
  page.on("console", (message) => void (message.type() === "error" ? complaints : said).push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.stack ?? error.message));
  await page.route(`${origin}/**`, (route) => {
    const path = new URL(route.request().url()).pathname.slice(1);
    const headers = { "content-security-policy": policy };
    return route.fulfill({ contentType: typeOf(path), body: files.get(path) ?? "", headers });
  });
  await page.goto(origin);
  const isOver = async (): Promise<boolean> => (await page.title()) === "over" && said.length >= lines;
  while (complaints.length === 0 && !(await isOver())) await page.waitForTimeout(20);
  const shown = page.locator("pawl-inspector .status");
  const status = name.includes("inspector") ? await shown.filter({ hasText: "events" }).innerText() : undefined;
  await page.close();
  return { said, complaints, status };
};
