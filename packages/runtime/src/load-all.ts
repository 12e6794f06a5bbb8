import { late } from "./late-part.ts";
import { jsonSchemas } from "./part.ts";

/** Loads what a page else loads when it is needed, so that nothing comes in the midst of what follows; in Node it is there. */
export const loadAll = async (): Promise<void> => {
  await Promise.all([late.load(), jsonSchemas.load()]);
};
