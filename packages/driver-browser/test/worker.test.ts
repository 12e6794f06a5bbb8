/** Tools that run in a Web Worker, in a real browser. */
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { inChromium } from "../../../test/runtime/in-chromium.ts";
import { pageWith, scriptOf } from "../../../test/runtime/page.ts";

inChromium("tools in a Web Worker", "packages/driver-browser/test/page/worker.ts", (at) => {
  let page: Page;
  beforeAll(async () => {
    const worker = await scriptOf("packages/driver-browser/test/page/worker-tools.ts");
    page = await pageWith(await at.browser.newContext(), at.code);
    await page.evaluate(`suite.open(${JSON.stringify(worker)})`);
    expect(await page.evaluate(`suite.attach()`)).toContain("tool:echo");
  });

  const called = async (request: string, tool: string): Promise<unknown> =>
    JSON.parse((await page.evaluate(`suite.call("${request}", "${tool}")`)) as string);
  const running = (request: string) => page.waitForFunction(`suite.isWithWorker("${request}")`);

  it("are refused with a worker whose script does not come, or fails before it has any", async () => {
    const absent = "Error: the worker did not begin: its script did not load (is it there, and allowed?)";
    expect(await page.evaluate(`suite.refusalOf("blob:" + location.origin + "/none")`)).toBe(absent);
    const failing = await page.evaluate(`suite.refusalOf("data:text/javascript,throw new Error('no such city')")`);
    expect(failing).toMatch(/^Error: the worker did not begin: .*no such city/);
  });

  it("have their results recorded, show what they mean to show, and hide the rest", async () => {
    const got = { got: { n: "18446744073709551616n" }, isWorker: true };
    expect(await called("echo", "echo")).toEqual({ status: "success", payload: got });
    expect(await called("refuse", "refuse")).toMatchObject({ payload: { message: "no such customer" } });
    const failed = await called("fail", "fail");
    expect(failed).toMatchObject({ payload: { code: "tool_internal_error" } });
    expect(JSON.stringify(failed)).not.toContain("secret");
  });

  it("hear that their call is cancelled", async () => {
    const ended = called("cancelled", "until_cancelled");
    await running("cancelled");
    await page.evaluate(`suite.cancel("cancelled")`);
    expect(await ended).toMatchObject({ status: expect.stringMatching(/success|cancelled|failure/) });
  });

  it("are lost with a worker that is killed: one that may runs again in the next, of the other nobody knows", async () => {
    const [again, unknown] = [called("again", "stuck"), called("bound", "stuck_bound")];
    await Promise.all([running("again"), running("bound")]);
    await page.evaluate(`suite.kill()`);
    expect(await unknown).toMatchObject({ payload: { code: "tool_outcome_unknown" } });
    await page.evaluate(`suite.attach()`);
    const { payload } = (await again) as { readonly payload: { readonly attempt: number; readonly run: number } };
    expect(payload.attempt).toBe(1);
    expect(payload.run).toBeGreaterThan(1);
  });
});
