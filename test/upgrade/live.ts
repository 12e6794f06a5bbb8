/** Towns that are upgraded in the middle: written under protocol 1 by today's code, cut anywhere, and gone on with under protocol 2. */
import { memoryJournal } from "@pawl/runtime";
import { continued } from "./continue.ts";
import { restored, storedScopes } from "./entry.ts";
import { Stage } from "./stage.ts";
import { Dice, townOf } from "./town.ts";

const underOne = { upgrade: "never" } as const;

/** Cuts the town of a seed at a random task, upgrades it there, and lets hosts die after that. Lists what is wrong at its end. */
export const upgradedLive = async (seed: number): Promise<readonly string[]> => {
  const town = townOf(seed);
  const dice = new Dice(seed * 104_729);
  const whole = new Stage(town, { runtime: underOne });
  await whole.run();
  const cut = 1 + dice.below(whole.tasks);
  const stage = new Stage(town, { runtime: underOne, deaths: dice.isUnder(40) ? [1 + dice.below(cut)] : [] });
  await stage.run(({ tasks }) => tasks >= cut);
  const scopes = await storedScopes(stage.store, stage.host);
  const store = await restored(memoryJournal(), scopes);
  const entry = {
    town,
    at: stage.clock.now,
    ledger: stage.ledger.text,
    undisturbed: whole.ledger.text,
    scopes,
    courses: [],
  };
  const deaths = Array.from({ length: dice.below(3) }, () => 1 + dice.below(whole.tasks));
  const wrong = await continued(entry, store, 2, { deaths });
  return wrong.map(
    (one) => `town ${seed} (${town.features.join(", ")}), cut at ${cut}, deaths ${deaths.join()}: ${one}`,
  );
};
