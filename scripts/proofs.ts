/**
 * `pnpm proofs [NAME…] [--kills N] [--sessions N] [--seed S]`: kills hosts with SIGKILL while they run programs that must not notice. Names:
 * subscription, signals, agent, trip, releases.
 */
import { parseArgs } from "node:util";
import { defaultOptions } from "@pawl/sansio-core";
import type { Proof } from "../test/upgrade/proof/place.ts";
import { proveAgent, proveSubscription, proveTrip } from "../test/upgrade/proof/prove.ts";
import { proveReleases } from "../test/upgrade/proof/releases.ts";

const { positionals, values } = parseArgs({
  options: {
    kills: { type: "string" },
    seed: { type: "string", default: "1" },
    sessions: { type: "string", default: "1000" },
  },
  allowPositionals: true,
});
const seed = Number(values.seed);
const given = (usual: number) => ({ seed, kills: Number(values.kills ?? usual) });

const proofs: { readonly [name: string]: () => Promise<Proof> } = {
  subscription: () => proveSubscription("subscription", given(200)),
  signals: () => proveSubscription("signals", given(200)),
  agent: () => proveAgent(given(50)),
  trip: () => proveTrip({ ...given(30), pausesMs: defaultOptions.crash_pauses_ms, options: {} }),
  releases: () => proveReleases({ sessions: Number(values.sessions) }),
};

for (const name of positionals.length === 0 ? Object.keys(proofs) : positionals) {
  const prove = proofs[name];
  if (prove === undefined)
    throw new Error(`there is no proof \`${name}\`: expected one of ${Object.keys(proofs).join(", ")}`);
  const begun = performance.now();
  const { kills, words, wrong } = await prove();
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${name}: ${kills} kills of ${words}, in ${seconds} s: ${wrong.length === 0 ? "all is well" : "WRONG"}`);
  for (const one of wrong.slice(0, 20)) console.log(`  ${one}`);
  if (wrong.length > 0) process.exitCode = 1;
}
