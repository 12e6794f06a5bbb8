/** The part of `scope-part.ts`, loaded when it is needed first, along with what the core needs of it. */
import { Part } from "./loading.ts";
import type * as parts from "./scope-part.ts";

export const scopeParts: typeof parts.scopeParts = new Part(async () => {
  const code = await import("./scope-code.ts");
  code.fillAmong();
  return code;
});
