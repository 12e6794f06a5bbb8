/** The parts of `part.ts`, each loaded when it is needed first. */
import { Part } from "./loading.ts";
import type * as parts from "./part.ts";

export const jsonSchemas: typeof parts.jsonSchemas = new Part(() => import("./json-schema.ts"));
export const storedStates: typeof parts.storedStates = new Part(async () => {
  const code = await import("./stored-state.ts");
  code.fillAll();
  return code;
});
export const travels: typeof parts.travels = new Part(async () => {
  await storedStates.load();
  return { ...(await import("./move-arrival.ts")), ...(await import("./move-departure.ts")) };
});
