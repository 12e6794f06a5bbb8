/** Lets the town of an entry go on from its store to its end, and judges it by the ledger, the replies and the logs. */
import { type Journal, logText } from "@pawl/runtime";
import { describeFault, replay } from "@pawl/sansio-core";
import { stringify, type Json } from "@pawl/tool-value";
import type { Entry } from "./entry.ts";
import { amiss } from "./ledger.ts";
import { Stage, type StageOptions } from "./stage.ts";
import type { Town } from "./town.ts";

/** Lists the logs that do not replay, each half under its own rules, and those that end under another protocol. */
const problemsOfLogs = async (journal: Journal, protocol: number): Promise<readonly string[]> => {
  const problems: string[] = [];
  for (const { scope } of await journal.scopes("", "", 1000)) {
    const { fault, state } = replay((await logText(journal, scope)) ?? []);
    if (fault !== undefined) problems.push(`${scope}: ${describeFault(fault)}`);
    if (state?.scope.protocol !== protocol) problems.push(`${scope}: ended under protocol ${state?.scope.protocol}`);
  }
  return problems;
};

/** Tools whose result says what ran when they asked: in another run it is another number. */
const ofTheirMoment: ReadonlySet<string> = new Set(["hands"]);

/** Returns a reply as it is the same in every run. */
const comparable = ({ acts }: Town, request: string, replies: Json): Json => {
  const act = acts.find(({ id }) => id === request);
  const isOfItsMoment = act?.type === "call" && act.calls.some(({ tool }) => ofTheirMoment.has(tool));
  return isOfItsMoment && Array.isArray(replies)
    ? replies.map((reply) => ({ ...(reply as object), payload: null }))
    : replies;
};

const upgrades = { 1: "never", 2: "auto" } as const;

/**
 * Lets the town go on under a protocol. Lists what is lost, doubled or answered otherwise than in a run that nothing disturbed,
 * and what is wrong with its logs.
 */
export const continued = async (
  { town, at, ledger, undisturbed }: Entry,
  store: Journal,
  protocol: keyof typeof upgrades,
  options: Pick<StageOptions, "deaths"> = {},
): Promise<readonly string[]> => {
  const stage = new Stage(town, { ...options, store, ledger, from: at, runtime: { upgrade: upgrades[protocol] } });
  await stage.run();
  const end = stage.ledger.text;
  const otherwise = Object.entries(undisturbed.replies).flatMap(([request, wanted]) => {
    const found: Json = end.replies[request] ?? null;
    return stringify(comparable(town, request, found)) === stringify(comparable(town, request, wanted))
      ? []
      : [`${request}: expected ${stringify(wanted)}, found ${stringify(found)}`];
  });
  return [...amiss(undisturbed, end), ...otherwise, ...(await problemsOfLogs(stage.journal, protocol)), ...stage.threw];
};
