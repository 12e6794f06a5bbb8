/** The part of `late-part.ts`, loaded when it is needed first, along with what the core needs of it. */
import type { LateCode } from "./late-part.ts";
import { laterFile } from "./later-file.ts";
import { Part } from "./loading.ts";

const file = laterFile(() => import("./late-code.ts"));

export const late = new Part<LateCode>(async () => {
  const code = await file();
  code.fillAll();
  return code;
});
