/** The corpus of protocol 1: it stands as it was written, replays as it did, and every town of it comes to its end. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { memoryJournal } from "@pawl/runtime";
import { runCoreSim } from "@pawl/testkit/core-sim";
import { sqliteJournal } from "@pawl/driver-node";
import { describe, expect, it } from "vitest";
import { textOf } from "../project.ts";
import { cutOf, upgradedCutOf } from "./core.ts";
import { corpusFiles, countsOf, readCore, readTowns } from "./corpus.ts";
import { continued } from "./continue.ts";
import { Ledger, amiss } from "./ledger.ts";
import { upgradedLive } from "./live.ts";
import { courseOf, coursesOf, imported, isImportable, restored } from "./entry.ts";
import { features } from "./town.ts";

const towns = readTowns();
const core = readCore();
const courses = [...towns, ...core].flatMap((entry) => entry.courses);

const sums = {
  towns: "2c5d6d88fec3bc4577a266088a19020fe5f0330597cf40bbaf692494c01a2df3",
  core: "88dd527d78efa0e4939003cfef3a2aae44d8f3def15b6093ad674190473f08f5",
} as const;

const phases = [
  "requested",
  "preparing",
  "awaiting_approval",
  "ready",
  "running",
  "resuming",
  "suspended",
  "no_executor",
  "backing_off",
  "unknown",
  "pending",
  "finishing",
  "completed",
];

/** Events that no live log of protocol 1 can hold: the log of a scope that has moved is over, and there was no upgrade yet. */
const never = new Set(["scope.moved", "scope.upgraded"]);

describe("the corpus of protocol 1", () => {
  it.each(["towns", "core"] as const)("stands as it was written: %s", (part) => {
    const sum = createHash("sha256").update(readFileSync(corpusFiles[part])).digest("hex");
    expect(sum, "the logs of protocol 1 are never edited, nor written again").toBe(sums[part]);
  });

  it("has at least 200 logs", () => {
    expect(towns.flatMap(({ scopes }) => scopes).length).toBeGreaterThan(100);
    expect(courses.length).toBeGreaterThan(200);
  });

  it("has every type of event, and calls that are live in every phase", () => {
    const { events } = JSON.parse(textOf("test/freeze/protocol-1.json")) as { readonly events: object };
    const types = countsOf(courses.map((course) => course.types));
    const live = countsOf(courses.map((course) => course.phases));
    const wanted = Object.keys(events).filter((type) => !never.has(type));
    expect(wanted.filter((type) => (types.get(type) ?? 0) < 5)).toEqual([]);
    expect(phases.filter((phase) => (live.get(phase) ?? 0) < 5)).toEqual([]);
  });

  it("has every feature, and every form of a store", () => {
    const times = countsOf(towns.map(({ town }) => town.features));
    expect(features.filter((feature) => (times.get(feature) ?? 0) < 4)).toEqual([]);
    const scopes = towns.flatMap((entry) => entry.scopes);
    const having = {
      snapshot: scopes.filter(({ snapshot }) => snapshot !== undefined).length,
      segment: scopes.filter(({ segment }) => segment !== undefined).length,
      blobs: scopes.filter(({ blobs }) => blobs.length > 0).length,
      letters: scopes.filter(({ letters }) => letters.length > 0).length,
      sealed: towns.filter(({ town }) => town.options.sealed).length,
      lost: courses.filter(({ types }) => types.filter((type) => type === "scope.opened").length > 1).length,
    };
    for (const [what, count] of Object.entries(having)) expect(count, what).toBeGreaterThan(4);
  });
});

describe("the ledger", () => {
  it("says what was lost, and what was done under two keys", () => {
    const undisturbed = new Ledger();
    for (const effect of ["paid", "sent"]) undisturbed.add({ effect, key: "k", claim: "once" });
    undisturbed.add({ effect: "tried", claim: "at_most_once" });
    const found = new Ledger();
    for (const key of ["k", "k", "other"]) found.add({ effect: "paid", key, claim: "once" });
    for (let i = 0; i < 2; i++) found.add({ effect: "tried", claim: "at_most_once" });
    expect(amiss(undisturbed.text, found.text)).toEqual(["lost: sent", "done 2 times: paid", "done 2 times: tried"]);
    expect(amiss(undisturbed.text, undisturbed.text)).toEqual([]);
  });
});

describe("a log of protocol 1", () => {
  it("replays to the digests and states that it had", async () => {
    for (const { town, scopes, courses: was } of towns) {
      const store = await restored(memoryJournal(), scopes);
      expect(await coursesOf(store, town.options.sealed), `town ${town.seed}`).toEqual(was);
    }
    for (const { seed, logs, courses: was } of core) {
      const found = Object.entries(logs).map(([scope, text]) => courseOf(scope, text));
      expect(found, `seed ${seed}`).toEqual(was);
    }
  });

  it("goes on under protocol 1, with nothing lost or doubled", async () => {
    for (const entry of towns) {
      const store = await restored(sqliteJournal(":memory:", { commits: "inline" }), entry.scopes);
      expect(await continued(entry, store, 1), `town ${entry.town.seed}`).toEqual([]);
    }
  });

  it("is upgraded as it is opened, and goes on under protocol 2, with nothing lost or doubled", async () => {
    for (const entry of towns) {
      const store = await restored(sqliteJournal(":memory:", { commits: "inline" }), entry.scopes);
      expect(await continued(entry, store, 2), `town ${entry.town.seed}`).toEqual([]);
    }
  });

  it("is upgraded after it was imported from a file", async () => {
    for (const entry of towns.filter(isImportable).filter((_, i) => i % 3 === 0)) {
      const store = await imported(memoryJournal(), entry.scopes);
      expect(await continued(entry, store, 2), `town ${entry.town.seed}`).toEqual([]);
    }
  });

  it("may be upgraded at any other moment, while hosts die", async () => {
    for (let seed = 9000; seed < 9024; seed++) expect(await upgradedLive(seed)).toEqual([]);
  });

  it("comes to its end in the core simulation", () => {
    for (const entry of core)
      expect(runCoreSim(entry.seed, { protocol: 1 }, cutOf(entry)).violation, `seed ${entry.seed}`).toBeUndefined();
  });

  it("comes to its end in the core simulation under protocol 2 as well, once it is upgraded", () => {
    for (const entry of core)
      expect(runCoreSim(entry.seed, {}, upgradedCutOf(entry)).violation, `seed ${entry.seed}`).toBeUndefined();
  });
});
