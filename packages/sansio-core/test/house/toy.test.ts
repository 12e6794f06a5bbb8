/** A new concern touches its own folder and `concerns.ts`: here one is added to a copy of the core, and lives in it. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import type * as machine from "../../src/machine.ts";
import type * as writing from "../../src/snapshot/write.ts";
import type * as reading from "../../src/snapshot/restore.ts";
import type * as checking from "../../src/check.ts";
import { defaultOptions } from "../../src/kernel/options.ts";

const core = resolve(import.meta.dirname, "../..");
const copy = mkdtempSync(join(core, ".toy-"));
afterAll(() => rmSync(copy, { recursive: true }));

/** Notes that are kept until a driver says that they are filed. */
const model = `import type { PersistentMap } from "../kernel/persistent-map.ts";

export interface NoteRow {
  readonly id: string;
  readonly text: string;
  readonly born: number;
}
export type NoteEvent =
  | { readonly type: "note.taken"; readonly id: string; readonly text: string; readonly pinned?: boolean }
  | { readonly type: "note.found"; readonly id: string }
  | { readonly type: "note.filed"; readonly id: string };
export type NoteSignal = { readonly type: "note.over"; readonly id: string };
export type NoteCommand = { readonly type: "note.file"; readonly note: string; readonly text: string };
export interface NoteRows {
  readonly notes: PersistentMap<string, NoteRow>;
}
`;

const concern = `import { array, boolean, defaulted, optional, record, string, u64 } from "@pawl/tool-value";
import type { Concern } from "../concern.ts";
import { untilAcked } from "../kernel/vocabulary.ts";
import { reject } from "../kernel/error.ts";
import { PersistentMap } from "../kernel/persistent-map.ts";
import type { NoteCommand, NoteEvent, NoteRow, NoteRows, NoteSignal } from "./model.ts";

const NoteCodec = record<NoteRow>("struct Note", { id: string, text: string, born: u64 });

export const note: Concern<NoteRows, NoteEvent["type"], NoteSignal["type"], NoteCommand["type"]> = {
  name: "note",
  events: {
    "note.taken": {
      fields: { id: string, text: string, pinned: optional(boolean) },
      fieldsSince: { pinned: "lives" },
      on: (draft, { id, text }) => {
        draft.set("notes", draft.state.notes.set(id, { id, text, born: draft.seq }));
        draft.emit({ type: "note.file", note: id, text });
        return undefined;
      },
    },
    "note.found": { fields: { id: string }, since: "patches", on: () => undefined },
    "note.filed": {
      fields: { id: string },
      on: (draft, { id }) => {
        if (!draft.state.notes.has(id)) return reject("message_unknown", \`no note \${id}\`);
        draft.raise({ type: "note.over", id });
        return undefined;
      },
    },
  },
  signals: {
    "note.over": { raises: [], on: (draft, { id }) => draft.set("notes", draft.state.notes.delete(id)) },
  },
  commands: {
    "note.file": {
      tag: 99,
      duty: untilAcked("note.filed"),
      digest: (lanes, command) => lanes.text(command.note),
    },
  },
  outstanding: ({ notes }) =>
    notes.values().map(({ id, text, born }) => ({ born, index: 0, command: { type: "note.file", note: id, text } })),
  isAtWork: ({ notes }) => notes.size > 0,
  checks: [({ notes, seq }) => notes.values().find(({ born }) => born > seq)?.id],
  rows: { notes: PersistentMap.empty() },
  snapshot: {
    fields: { notes: defaulted<readonly NoteRow[]>(array(NoteCodec), [], (list) => list.length === 0) },
    write: ({ notes }) => ({ notes: notes.values() }),
    read: ({ notes }: { readonly notes: readonly NoteRow[] }) => ({
      notes: PersistentMap.of(notes.map((row) => [row.id, row])),
    }),
  },
};
`;

/** The one edit: an import of values, one of types, and a name in each of the five lists. */
const listed = (text: string): string =>
  text
    .replace(
      "export const concerns",
      `import { note } from "./note/concern.ts";
import type { NoteCommand, NoteEvent, NoteRows, NoteSignal } from "./note/model.ts";

export const concerns`,
    )
    .replace("turn] as const", "turn, note] as const")
    .replace("  | TurnEvent;", "  | TurnEvent\n  | NoteEvent;")
    .replace("  | TurnSignal;", "  | TurnSignal\n  | NoteSignal;")
    .replace("  | TurnCommand;", "  | TurnCommand\n  | NoteCommand;")
    .replace("    TurnRows {}", "    TurnRows,\n    NoteRows {}");

const typesOf = (): string => {
  const tsc = resolve(core, "../../node_modules/.bin/tsc");
  try {
    return execFileSync(tsc, ["--noEmit", "-p", copy], { encoding: "utf8" });
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
};

beforeAll(() => {
  cpSync(join(core, "src"), join(copy, "src"), { recursive: true });
  mkdirSync(join(copy, "src/note"));
  writeFileSync(join(copy, "src/note/model.ts"), model);
  writeFileSync(join(copy, "src/note/concern.ts"), concern);
  const list = join(copy, "src/concerns.ts");
  writeFileSync(list, listed(readFileSync(list, "utf8")));
  writeFileSync(
    join(copy, "tsconfig.json"),
    JSON.stringify({ extends: "../../../tsconfig.pure.json", include: ["src"] }),
  );
});

it("type-checks", () => {
  expect(typesOf()).toBe("");
});

it("does not compile where the list lacks it, but its types are there", () => {
  const list = join(copy, "src/concerns.ts");
  const whole = readFileSync(list, "utf8");
  writeFileSync(list, whole.replace("turn, note] as const", "turn] as const"));
  expect(typesOf()).toMatch(/note\.taken/);
  writeFileSync(list, whole);
});

const load = async <M>(file: string): Promise<M> => (await import(pathToFileURL(join(copy, "src", file)).href)) as M;

it("takes its events, asks for its command until it is answered, and stands in snapshots", async () => {
  const { EventCodec, digest, dutyOf, initial, outstanding, step, wakeAtOf } = await load<typeof machine>("machine.ts");
  const { snapshot } = await load<typeof writing>("snapshot/write.ts");
  const { restore } = await load<typeof reading>("snapshot/restore.ts");
  const { checkAll } = await load<typeof checking>("check.ts");

  let state = initial("s");
  const next = (event: object): machine.Transition => {
    const decoded = EventCodec.decode(event);
    if (E.isLeft(decoded)) throw new Error(`not decoded: ${JSON.stringify(event)}`);
    const result = step(state, { seq: state.seq + 1, at: 0, event: decoded.right });
    if (E.isLeft(result)) throw new Error(result.left.message);
    state = result.right.state;
    return result.right;
  };
  next({ type: "scope.opened", epoch: 1, owner: "o", protocol: 1, options: defaultOptions });
  const quiet = digest({ state, commands: [] });
  const taken = next({ type: "note.taken", id: "n", text: "buy milk" });
  expect(taken.commands).toEqual([{ type: "note.file", note: "n", text: "buy milk" }]);
  expect(digest(taken)).not.toBe(quiet);
  expect(taken.commands.map(dutyOf)).toMatchObject([{ performed: "durable", answeredBy: "note.filed" }]);
  expect(outstanding(state)).toEqual(taken.commands);
  expect([wakeAtOf(state), checkAll(state)]).toEqual([0, undefined]);

  const written = snapshot(state);
  expect(written).toMatchObject({ notes: [{ id: "n", text: "buy milk", born: 2 }] });
  const restored = restore(written);
  expect(E.isRight(restored) && outstanding(restored.right)).toEqual(taken.commands);

  next({ type: "note.filed", id: "n" });
  expect([outstanding(state), wakeAtOf(state)]).toEqual([[], undefined]);
  expect(snapshot(state)).not.toHaveProperty("notes");
});

it("has no event and no field of a later protocol in a scope of an earlier one", async () => {
  const { initial, step } = await load<typeof machine>("machine.ts");
  const told = (protocol: number, event: object): string => {
    const opened = { type: "scope.opened", epoch: 1, owner: "o", protocol, options: defaultOptions } as const;
    const begun = step(initial("s"), { seq: 1, at: 0, event: opened });
    if (E.isLeft(begun)) throw new Error(begun.left.message);
    const result = step(begun.right.state, { seq: 2, at: 0, event: event as typeof opened });
    return E.isLeft(result) ? `${result.left.code}: ${result.left.message}` : "taken";
  };
  const note = { type: "note.taken", id: "n", text: "buy milk" };
  expect([told(1, note), told(2, { ...note, pinned: true }), told(2, { type: "note.found", id: "n" })]).toEqual(
    Array.from({ length: 3 }, () => "taken"),
  );
  expect(told(1, { ...note, pinned: true })).toMatch(
    /^needs_protocol_2: `pinned` of `note\.taken` needs protocol 2, and this scope is of protocol 1/,
  );
  expect(told(1, { type: "note.found", id: "n" })).toMatch(/^needs_protocol_2: `note\.found` needs protocol 2/);
});
