/** The ops of this package for the case runner. */
import { compatAdapters, compatWire } from "./cases/compat.ts";
import { contextAdapters } from "./cases/context.ts";
import { processAdapters } from "./cases/process.ts";

export const adapters = { ...compatAdapters, ...contextAdapters, ...processAdapters };
export const wire = compatWire;
