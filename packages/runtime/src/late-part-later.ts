/** The part of `late-part.ts`, loaded when it is needed first, along with what the core needs of it. */
import type { LateCode } from "./late-part.ts";
import { Part } from "./loading.ts";

export const late = new Part<LateCode>(async () => {
  const code = await import("./late-code.ts");
  code.fillAll();
  return code;
});
