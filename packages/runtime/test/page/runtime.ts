/** The runtime, and the part of it that a page loads when it needs it. */
export * from "../../src/index.ts";
export { fillAll } from "@pawl/sansio-core";
export { late } from "../../src/late-part.ts";
export { Part } from "../../src/loading.ts";
export { done, failureOutput, pending, safeRetryFailure } from "@pawl/tool-value";
