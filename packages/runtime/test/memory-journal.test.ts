import { journalChecks } from "@pawl/testkit";
import { describe, it } from "vitest";
import { memoryJournal } from "../src/index.ts";

describe("a journal in memory", () => {
  for (const { name, run } of journalChecks) it(name, () => run(memoryJournal()));
});
