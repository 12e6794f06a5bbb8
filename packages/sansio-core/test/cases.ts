/** The ops of this package for the case runner: each calls the public API, and nothing else. */
import { flowAdapters } from "./cases/flow.ts";
import { pureAdapters } from "./cases/pure.ts";
import { processAdapters } from "./cases/process.ts";
import { stateAdapters } from "./cases/state.ts";
import { wireCodecs } from "./cases/wire.ts";

export const adapters = { ...pureAdapters, ...processAdapters, ...stateAdapters, ...flowAdapters };

/** The records that `wire.roundtrip` reads and writes. */
export const wire = wireCodecs;
