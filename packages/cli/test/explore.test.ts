/** `pawl explore`: runs the scenarios of a module through every explorer. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { pathOf } from "../../../test/project.ts";
import { newFolder } from "./fixture.ts";
import { jsonIn, pawl, pawlProcess } from "./pawl.ts";

const folder = newFolder();
const example = pathOf("examples/pay.scenario.ts");

/** The example without its key: the service cannot recognise a repeated charge. */
const careless = join(folder, "careless.ts");
writeFileSync(
  careless,
  `import { defineTool } from "${pathToFileURL(pathOf("packages/runtime/src/index.ts")).href}";
   export const careless = {
     tools: ({ effect }) => [defineTool({ name: "pay", durable: true,
       execute: (_, ctx) => ctx.run("charge", () => effect("money moves").then(() => null)) })],
     host: (host) => host.request("r1", [{ label: "c1", tool: "pay", args: {} }]),
   };`,
);

describe("pawl explore", () => {
  it("finds the example safe with each explorer", async () => {
    const { code, out } = await pawlProcess(["explore", example, "--pairs", "20", "--seeds", "20"]);
    expect(out.split("\n").filter((line) => line.startsWith("safe  pay"))).toHaveLength(3);
    expect(code).toBe(0);
  });

  it("says which effect would happen twice, and exits with 1", async () => {
    const { code, out } = await pawl(["explore", careless, "--only", "crashes", "--pairs", "5"]);
    expect(out).toContain("not safe  careless  crashes");
    expect(out).toMatch(/doubled, died at \d+, after the effect `money moves`/);
    expect(out).toContain("pass the step's `key` to the service");
    expect(code).toBe(1);
  });

  it("repeats a failure by its seed and its fates", async () => {
    const [found = {}] = jsonIn(await pawl(["explore", careless, "--only", "chance", "--json"]));
    const { failure } = found["report"] as { readonly failure: { readonly seed: number; readonly fates: string } };
    const again = await pawl(["explore", careless, "--seed", String(failure.seed), "--fates", failure.fates, "--json"]);
    expect(jsonIn(again).map(({ safe }) => safe)).toEqual([false]);
    expect(again.code).toBe(1);
  });

  it("refuses unknown options", async () => {
    expect(await pawl(["explore", careless, "--only", "luck"])).toMatchObject({ code: 2 });
    expect((await pawl(["explore", pathOf("packages/runtime/src/error.ts")])).err).toContain("exports no scenario");
  });
});
