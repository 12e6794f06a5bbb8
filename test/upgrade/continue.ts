/** Lets the town of an entry go on from its store to its end, and judges it by the ledger and the replies. */
import type { Journal } from "@pawl/runtime";
import { stringify, type Json } from "@pawl/tool-value";
import type { Entry } from "./entry.ts";
import { amiss } from "./ledger.ts";
import { Stage, type StageOptions } from "./stage.ts";

/** Lists what is lost, doubled or answered otherwise than in a run that nothing disturbed. */
export const continued = async (
  { town, at, ledger, undisturbed }: Entry,
  store: Journal,
  options: Pick<StageOptions, "deaths" | "runtime"> = {},
): Promise<readonly string[]> => {
  const stage = new Stage(town, { ...options, store, ledger, from: at });
  await stage.run();
  const end = stage.ledger.text;
  const otherwise = Object.entries(undisturbed.replies).flatMap(([request, wanted]) => {
    const found: Json = end.replies[request] ?? null;
    return stringify(found) === stringify(wanted)
      ? []
      : [`${request}: expected ${stringify(wanted)}, found ${stringify(found)}`];
  });
  return [...amiss(undisturbed, end), ...otherwise];
};
