/** The code of a part that only some pages need: processes, and all that goes between scopes. */
export { fillAmong } from "@pawl/sansio-core";
export { hostRunRequest } from "./background/host-run.ts";
export { LongWorkVerbs } from "./background/long-work-verbs.ts";
export { handleTools } from "./context/handle-calls.ts";
export { ProcessAsking } from "./context/process-asking.ts";
export { appendToProcess, eventOfProcessAfter } from "./context/process-event-asking.ts";
export { capturedEnv, startOf } from "./context/process-registration.ts";
export { ProcessVerbs } from "./process-verbs.ts";
export { ScopeWork } from "./scope-work.ts";
