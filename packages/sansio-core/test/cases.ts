/** The ops of this package for the case runner: each calls the public API, and nothing else. */
import { flowAdapters } from "./cases/flow.ts";
import { pureAdapters } from "./cases/pure.ts";
import { processAdapters } from "./cases/process.ts";
import { stateAdapters } from "./cases/state.ts";
import { ledgerAdapters } from "./cases/turn/ledger.ts";
import { promptAdapters } from "./cases/turn/prompt.ts";
import { sequenceAdapters } from "./cases/turn/sequence.ts";
import { wireCodecs } from "./cases/wire.ts";

export const adapters = {
  ...pureAdapters,
  ...processAdapters,
  ...stateAdapters,
  ...flowAdapters,
  ...sequenceAdapters,
  ...promptAdapters,
  ...ledgerAdapters,
};

/** The records that `wire.roundtrip` reads and writes. */
export const wire = wireCodecs;
