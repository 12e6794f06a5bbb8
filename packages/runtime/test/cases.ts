/** The ops of this package for the case runner. */
import { compatAdapters, compatWire } from "./cases/compat.ts";

export const adapters = compatAdapters;
export const wire = compatWire;
