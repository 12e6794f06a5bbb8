/** A background run that a host asks for, in the name of a session. */
import { envRef, startedBySession } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import type { RunRequest } from "./request.ts";

export const hostRunRequest = (
  session: string,
  request: Omit<RunRequest, "provenance" | "envRef">,
  environment: Json,
): RunRequest => {
  const { provenance } = startedBySession({ session_id: session });
  return { ...request, provenance, envRef: envRef(environment) };
};
