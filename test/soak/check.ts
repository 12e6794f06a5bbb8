/**
 * Final checks of the soak: everything acknowledged exists, was done once for each record, is at rest, and its log is
 * complete.
 */
import { readFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Journal } from "@pawl/runtime";
import type { Event } from "@pawl/sansio-core";
import { sqliteJournal } from "@pawl/driver-node";
import { wholeLog } from "../../packages/driver-node/test/kill/archive.ts";
import { ScopeCheck } from "../../packages/driver-node/test/kill/check.ts";
import { Effects } from "../../packages/driver-node/test/kill/effects.ts";
import type { Account } from "./customer.ts";

export interface Checked {
  readonly scopes: number;
  readonly events: number;
  readonly steps: number;
  readonly wrong: readonly string[];
}

const pageSize = 500;

const scopesOf = async (journal: Journal): Promise<readonly string[]> => {
  const scopes: string[] = [];
  for (;;) {
    const page = await journal.scopes("", scopes.at(-1) ?? "", pageSize);
    scopes.push(...page.map(({ scope }) => scope));
    if (page.length < pageSize) return scopes;
  }
};

/** Returns the schedules that have fired, by the messages that their sessions got. */
export const toldIn = (folder: string): ReadonlySet<string> => {
  const file = join(folder, "told.txt");
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  return new Set(lines.map((line) => line.split("\t")[0] as string));
};

const factsOf = ({ requests, flows }: Account): readonly Partial<Event>[] => [
  ...requests.flatMap((request): Partial<Event>[] => [
    { type: "request.submitted", request },
    { type: "reply.acked", request },
  ]),
  ...flows.map((request): Partial<Event> => ({ type: "flow.submitted", request })),
];

export const checkTown = async (folder: string, accounts: readonly Account[]): Promise<Checked> => {
  const journal = sqliteJournal(join(folder, "journal.db"));
  const effects = new Effects(folder);
  const done = Map.groupBy(effects.done, ({ scope }) => scope);
  const served = Map.groupBy(effects.served, (key) => key.split(" ")[0] as string);
  const owners = new Map(accounts.map((account) => [`session:${account.session}`, account]));
  const told = toldIn(folder);
  const [wrong, counts]: [string[], { scopes: number; events: number; steps: number }] = [
    [],
    { scopes: 0, events: 0, steps: 0 },
  ];
  for (const scope of await scopesOf(journal)) {
    const check = new ScopeCheck(scope);
    await check.log(journal, await wholeLog(journal, folder, scope));
    check.acknowledged(owners.has(scope) ? factsOf(owners.get(scope) as Account) : []);
    check.effects(done.get(scope) ?? []);
    check.served(served.get(scope) ?? []);
    check.atRest();
    wrong.push(...check.wrong);
    if ((await journal.inbox(scope)).length > 0) wrong.push(`${scope}: messages are left in its inbox`);
    counts.scopes += 1;
    counts.events += check.events;
    counts.steps += check.steps;
  }
  for (const { session, schedules } of accounts)
    for (const id of schedules) if (!told.has(id)) wrong.push(`${session}: ${id} was made, and never fired`);
  await journal.close();
  return { ...counts, wrong };
};
