/** Commands that only read write nothing, so that they work on a full disk and beside a host. */
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { madeJournal, newFolder } from "./fixture.ts";
import { pawl } from "./pawl.ts";

it.each([["ls"], ["show", "waiting"], ["why", "waiting"], ["log", "export", "waiting"], ["doctor"]])(
  "%s",
  async (...command) => {
    const file = await madeJournal(newFolder());
    expect((await pawl(["ls", "-j", file])).code).toBe(0); // The first reader brings the index up to date.
    const db = new DatabaseSync(file);
    const version = db.prepare("PRAGMA data_version");
    const before = version.get();
    const named = command[0] === "doctor" ? [file] : ["-j", file];
    expect((await pawl([...command, ...named])).code).toBe(0);
    expect(version.get()).toEqual(before);
    db.close();
  },
);
