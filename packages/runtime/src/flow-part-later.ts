/** The part of `flow-part.ts`, loaded when it is needed first, along with what the core needs of it. */
import type * as parts from "./flow-part.ts";
import { Part } from "./loading.ts";

export const flowParts: typeof parts.flowParts = new Part(async () => {
  const code = await import("./flow-code.ts");
  code.fillFlows();
  return code;
});
