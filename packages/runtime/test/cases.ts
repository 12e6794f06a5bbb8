/** The ops of this package for the case runner. */
import { compatAdapters, compatWire } from "./cases/compat.ts";
import { contextAdapters } from "./cases/context.ts";

export const adapters = { ...compatAdapters, ...contextAdapters };
export const wire = compatWire;
