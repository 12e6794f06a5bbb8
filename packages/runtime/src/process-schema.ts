/** Payloads of process events against the schemas of their types. */
import { jsonSchemas } from "./part.ts";

/** Before a scope of a process is worked with. */
export const readyForPayloads = async (scope: string): Promise<void> => {
  if (scope.startsWith("process:")) await jsonSchemas.load();
};
