/** The texts that a model sees for plain errors of a file store, which have no kind. */
import type { JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { MemoryFiles, contentHash, defaultRegistry } from "@pawl/tools";

const hidden = "An internal error occurred while executing the tool";

/** A store that fails at every change, listing and search. */
class Broken extends MemoryFiles {
  readonly #message: string;

  constructor(message: string) {
    super();
    this.#message = message;
  }

  #fail(): never {
    throw new Error(this.#message);
  }

  override async write(): Promise<boolean> {
    return this.#fail();
  }
  override async list(): Promise<never> {
    return this.#fail();
  }
  override async delete(): Promise<boolean> {
    return this.#fail();
  }
  override async grep(): Promise<never> {
    return this.#fail();
  }
}

const errorOf = async (files: MemoryFiles, name: string, args: JsonObject): Promise<unknown> => {
  const done = await defaultRegistry().execute({ id: "c", name, arguments: args }, { session_id: "s", files });
  return E.isRight(done) ? done.right.json["error"] : done.left;
};

const calls = {
  write_file: { path: "a", content: "x" },
  list_directory: {},
  delete_file: { path: "a" },
  grep_files: { pattern: "a" },
};

it.each([
  ["Cannot modify readonly file: /a", ["write_file"]],
  ["Path is a directory: /a", ["write_file"]],
  ["Path is not a directory: /a", ["list_directory"]],
  ["Directory not found: /a", ["list_directory"]],
  ["Directory is not empty. Use recursive=true to delete", ["delete_file"]],
  ["Cannot delete root directory without recursive flag", ["delete_file"]],
  ["the file is read-only", []],
  ["not found, for it is readonly", ["write_file"]],
  ["disk failure", []],
] as const)("%s is told of %j, and of no other tool", async (message, told: readonly string[]) => {
  for (const [name, args] of Object.entries(calls)) {
    expect(await errorOf(new Broken(message), name, args), name).toBe(told.includes(name) ? message : hidden);
  }
});

it.each(["bad regex: (", "the pattern is too long"])("%s is shown for a search", async (message) => {
  expect(await errorOf(new Broken(message), "grep_files", { pattern: "(" })).toBe(`Invalid regex pattern: ${message}`);
  expect(await errorOf(new Broken(message), "list_directory", {})).toBe(hidden);
});

/** Files that are made read-only during an edit. */
class Locked extends MemoryFiles {
  #isLocked = false;
  /** Runs before the file becomes read-only. */
  onLock: () => Promise<unknown> = async () => {};

  override async read(path: string) {
    const file = await super.read(path);
    return file && { ...file, isReadonly: this.#isLocked };
  }
  override async write(path: string, bytes: Uint8Array, how: Parameters<MemoryFiles["write"]>[2]): Promise<boolean> {
    if (how.expected === undefined) return super.write(path, bytes, how);
    await this.onLock();
    this.#isLocked = true;
    return false;
  }
}

it("an edit that raced with a change and a lock reports the lock", async () => {
  const files = new Locked();
  await files.write("a", new TextEncoder().encode("old"), { encoding: "text" });
  const bytes = new TextEncoder().encode("old");
  const edits = [{ old_text: "old", new_text: "new" }];
  files.onLock = () => files.write("a", new TextEncoder().encode("other"), { encoding: "text" });
  const said = await errorOf(files, "edit_file", { path: "a", expected_hash: contentHash(bytes), edits });
  expect(said).toBe("Cannot modify readonly file: /workspace/a");
});

it("an edit that raced with a lock reports the lock", async () => {
  const files = new Locked();
  const bytes = new TextEncoder().encode("old");
  await files.write("a", bytes, { encoding: "text" });
  const edits = [{ old_text: "old", new_text: "new" }];
  const said = await errorOf(files, "edit_file", { path: "a", expected_hash: contentHash(bytes), edits });
  expect(said).toBe("Cannot modify readonly file: /workspace/a");
});
