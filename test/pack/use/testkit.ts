import { defineTool } from "@pawl/runtime";
import { callsOf, exploreCrashes } from "@pawl/testkit";
import { runCoreSim } from "@pawl/testkit/core-sim";

const report = await exploreCrashes({
  tools: ({ effect }) => [
    defineTool({
      name: "pay",
      durable: true,
      execute: (_, ctx) => ctx.run("charge", ({ key }) => effect("money", { key }).then(() => true)),
    }),
  ],
  host: callsOf({ label: "c1", tool: "pay", args: {} }),
});
console.log(report.isSafe && typeof runCoreSim === "function");
