/** The code of a part that only some pages need: flows. */
export { fillFlows } from "@pawl/sansio-core";
export { flowSubmitted, lambdaApplied } from "./flow.ts";
