/** A process that runs a flow over a journal file, and is killed with SIGKILL after a number of steps. */
import { appendFileSync } from "node:fs";
import * as f from "@pawl/flow";
import { defineTool } from "@pawl/runtime";
import { openRuntime } from "../src/index.ts";

const [file = "", done = "", shown = "0"] = process.argv.slice(2);
let left = Number(shown);

const step = defineTool({
  name: "step",
  readOnly: true,
  idempotent: false,
  execute: (args) => {
    appendFileSync(done, `${JSON.stringify(args)}\n`);
    return `<${String(args)}>`;
  },
});

const flow = f.flow("Every", [
  f.use("step", "first"),
  f.apply("twice", "word"),
  f.each("item", "$items", [
    f.use("step", "turn $item"),
    f.when(f.is("item", "==", "b"), [f.use("step", "then"), f.stop], [f.use("step", "else")]),
  ]),
  f.par([f.use("step", "left")], [f.use("step", "right")]),
  f.use("step", "last"),
  f.back("${step_result} ${item}"),
]);

const { runtime, close } = openRuntime({
  file,
  tools: [step],
  host: {
    flow: {
      lambdas: {
        twice: ({ input }) => {
          appendFileSync(done, `"twice ${input}"\n`);
          return input + input;
        },
      },
      observe: (_, __, { kind }) => {
        if (kind !== "step_start") return;
        left -= 1;
        if (left === 0) process.kill(process.pid, "SIGKILL");
      },
    },
  },
});
const session = await runtime.session("s");
const end = await session.flow({ request: "r", flow, bindings: { items: "a, b, c", word: "ha" } });
console.log(JSON.stringify(end));
await close();
