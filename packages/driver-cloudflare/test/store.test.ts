/** The journal of objects and the platform of workerd do what every journal and platform must do; checks run in a workerd. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { nodePlatform } from "@pawl/driver-node";
import { journalChecks, platformChecks } from "@pawl/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Steady } from "./worker/steady.ts";
import { type Worker, bundled, hasWorkerd, startWorker } from "./workerd.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-objects-"));
let worker: Worker;
/** A worker with an agent, its journal and its clients. */
let code: string;

const verdict = async (path: string, name: string, more = ""): Promise<string> => {
  const answer = await fetch(`${worker.url}/${path}?name=${encodeURIComponent(name)}${more}`);
  return answer.text();
};

describe.skipIf(!hasWorkerd)("in workerd", () => {
  beforeAll(async () => {
    code = await bundled("worker/agent.ts");
    worker = await startWorker({
      code: await bundled("worker/store.ts"),
      folder,
      objects: { className: "Store", binding: "STORE" },
    });
  });
  afterAll(async () => {
    await worker.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  describe("a journal over one object for each scope", () => {
    it.each(journalChecks.filter(({ needs }) => needs !== "leases").map(({ name }) => name))("%s", async (name) => {
      expect(await verdict("journal", name)).toBe("");
    });
  });

  it("is a bundle of at most 256 KB, compressed, and needs no module of Node", () => {
    expect(gzipSync(code).length).toBeLessThanOrEqual(256_000);
    const imported = [...code.matchAll(/\bfrom\s*["'](?<name>[^"']+)["']/g)].map(({ groups }) => groups?.["name"]);
    expect(imported).toEqual(["cloudflare:workers"]);
  });

  it("keeps texts that are longer than a row", async () => {
    expect(await verdict("large", "")).toBe("");
  });

  it("writes one row for an append, and sets the alarm once in five seconds of steady work", async () => {
    const answer = await fetch(`${worker.url}/steady?ms=6000`);
    const { alarms, rows, steps, lines } = (await answer.json()) as Steady;
    expect(steps).toBeGreaterThan(50);
    expect(lines).toBeGreaterThan(2 * steps);
    expect(rows).toBeLessThan(2 * steps + 20);
    expect(alarms).toBeLessThanOrEqual(2);
  });

  describe("its platform", () => {
    it.each(platformChecks.map(({ name }) => name))("%s", async (name) => {
      expect(await verdict("platform", name)).toBe("");
    });

    it("would not let timers ring if turns were messages", async () => {
      const verdicts = await Promise.all(platformChecks.map(({ name }) => verdict("platform", name, "&turn=message")));
      expect(verdicts.filter((found) => found !== "").length).toBeGreaterThan(0);
    });
  });
});

describe("the platform of Node", () => {
  it.each(platformChecks)("$name", ({ run }) => run(nodePlatform));
});
