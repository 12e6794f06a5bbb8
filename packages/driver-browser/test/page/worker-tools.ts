/** Runs in a worker: tools that tests have it run. */
import { ToolRefused, serveTools } from "../../src/worker/serve.ts";

const never = new Promise<never>(() => undefined);

serveTools({
  "tool:echo": (args) => ({ got: args, isWorker: typeof document === "undefined" }),
  "tool:refuse": () => {
    throw new ToolRefused("no such customer");
  },
  "tool:fail": () => {
    throw new Error("secret");
  },
  "tool:until_cancelled": (_, { signal }) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"))),
  "tool:stuck": (_, { attempt, run }) => (run > 1 ? { attempt, run } : never),
  "tool:stuck_bound": () => never,
});
