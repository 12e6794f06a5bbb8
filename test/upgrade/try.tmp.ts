import { logText, memoryJournal } from "@pawl/runtime";
import { readTowns } from "./corpus.ts";
import { restored } from "./entry.ts";
import { continued } from "./continue.ts";
import { Stage } from "./stage.ts";
import { writeFileSync } from "node:fs";
const seed = Number(process.argv[2]);
const entry = readTowns().find((e) => e.town.seed === seed)!;
const store = await restored(memoryJournal(), entry.scopes);
const stage = new Stage(entry.town, { store, ledger: entry.ledger, from: entry.at, runtime: { upgrade: (process.argv[3] ?? "auto") as "auto" }  });
try { await stage.run(); } catch (e) { console.log(String(e)); }
for (const { scope } of await store.scopes("", "", 100)) writeFileSync(`/tmp/log-${scope.replace(/\W/g, "_")}.jsonl`, ((await logText(store, scope)) ?? []).join(""));
