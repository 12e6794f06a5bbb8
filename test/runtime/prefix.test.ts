/** The same logs give the same states in Node and in Chromium: each golden log, after each of its events. */
import { describe, expect, it } from "vitest";
import { files, textOf } from "../project.ts";
import { inChromium } from "./in-chromium.ts";
import { type Prefixes, prefixesOf } from "./prefix.ts";

const logs = files.filter((file) => /\/golden\/(?!.*\.cmds\.)[^/]+\.jsonl$/.test(file));

describe("golden logs", () => {
  it("replay in Node, event by event", () => {
    expect(logs.length).toBeGreaterThan(30);
    for (const file of logs) {
      const { hashes, fault } = prefixesOf(textOf(file));
      expect([file, fault, hashes.length > 2]).toEqual([file, undefined, true]);
    }
  });
});

inChromium("golden logs in Chromium", "test/runtime/prefix.ts", (at) => {
  it("come to the states that they come to in Node, after each event", async () => {
    const page = await at.browser.newPage();
    await page.addScriptTag({ content: at.code });
    const texts = JSON.stringify(logs.map(textOf));
    const inBrowser = await page.evaluate<readonly Prefixes[]>(`${texts}.map(suite.prefixesOf)`);
    for (const [i, file] of logs.entries()) expect([file, inBrowser[i]]).toEqual([file, prefixesOf(textOf(file))]);
  });
});
