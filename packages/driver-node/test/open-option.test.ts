/** Wrong options are refused before a journal is created. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openRuntime } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "pawl-option-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("an option of a runtime", () => {
  const wrong: readonly (readonly [options: object, message: RegExp])[] = [
    [{ retentions: 1 }, /^`retentions` is no option: expected some of .*retention/],
    [{ bounds: { request: 5 } }, /^`bounds.request` is no option: expected some of .*requests/],
    [{ patience: { stepMs: 5 } }, /^`patience.stepMs` is no option/],
    [{ linger: { restMs: 5 } }, /^`linger.restMs` is no option: expected some of ms, most$/],
    [{ lease: { ms: -1 } }, /^`lease.ttlMs`: expected a number above 0, found undefined$/],
    [{ lease: "x" }, /^`lease.ttlMs`: expected/],
  ];
  it.each(wrong)("is refused before anything is opened: %j", (options, message) => {
    const file = join(folder, "journal.db");
    const refused = { name: "Refused", code: "invalid_option", message: expect.stringMatching(message) };
    expect(() => openRuntime({ file, tools: [], ...options })).toThrow(expect.objectContaining(refused));
    expect(existsSync(file)).toBe(false);
  });

  it("may be missing, or have any valid value", async () => {
    const { close } = openRuntime({ file: ":memory:", tools: [], lease: { ttlMs: 1000 }, bounds: { requests: 5 } });
    await close();
  });
});
