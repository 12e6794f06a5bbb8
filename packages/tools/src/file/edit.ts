/** `edit_file`: replaces texts in a file, all or none, if its content is still the one that was read (compare and swap). */
import * as E from "fp-ts/lib/Either.js";
import { objectSchema } from "../tool.ts";
import { contentHash, textOfBytes, utf8 } from "./bytes.ts";
import { unified } from "./diff.ts";
import { type Edit, planEdits, readEdits } from "./plan.ts";
import { readFile } from "./read.ts";
import type { FileStore, StoredFile } from "./store.ts";
import { displayPath } from "./path.ts";
import { Refusal, fileTool, required, displayForm, workspaceClass } from "./tool.ts";

interface EditArguments {
  readonly path: string;
  readonly expected: string;
  readonly edits: readonly Edit[];
}

const orRefuse = <A>(checked: E.Either<string, A>): A => {
  if (E.isLeft(checked)) throw new Refusal(checked.left);
  return checked.right;
};

/** Returns the file if it is a text and still has the expected hash. */
const current = async ({ path, expected }: EditArguments, files: FileStore): Promise<StoredFile> => {
  const file = await readFile(path, files);
  if (file.encoding !== "text") {
    throw new Refusal(
      `File '${displayForm(path)}' is not a text file. edit_file only supports text files; use write_file for binary/base64 content.`,
    );
  }
  const found = contentHash(file.bytes);
  if (found === expected) return file;
  throw new Refusal(
    `File '${displayForm(path)}' changed since the last read. Expected ${expected}, found ${found}. Read the file again before editing.`,
  );
};

/** Returns the reason why a write failed, although the file had the expected content a moment ago. */
const lostRace = async (args: EditArguments, files: FileStore): Promise<Refusal> => {
  const { path, isReadonly } = await readFile(args.path, files);
  if (isReadonly) return new Refusal(`Cannot modify readonly file: ${displayPath(path)}`);
  await current(args, files);
  return new Refusal(`File '${displayPath(path)}' changed during the edit. Read the file again before editing.`);
};

export const edit = fileTool<EditArguments>({
  name: "edit_file",
  displayName: "Edit File",
  description:
    "Replaces texts in a file. Each old text must occur exactly once, and the file must be unchanged since it was read.",
  properties: {
    path: { type: "string" },
    expected_hash: { type: "string", description: "The content_hash that read_file returned." },
    edits: {
      type: "array",
      minItems: 1,
      items: objectSchema({ old_text: { type: "string" }, new_text: { type: "string" } }, ["old_text", "new_text"]),
    },
  },
  required: ["path", "expected_hash", "edits"],
  hints: { concurrency_class: workspaceClass },
  mendable: ["readonly", "is_directory"],
  read: (args) => ({
    path: required(args, "path"),
    expected: required(args, "expected_hash"),
    edits: orRefuse(readEdits(args)),
  }),
  run: async (args, files) => {
    const file = await current(args, files);
    const before = textOfBytes(file.bytes);
    const { text, firstChangedLine } = orRefuse(planEdits(before, args.edits));
    const bytes = utf8(text);
    if (!(await files.write(args.path, bytes, { encoding: "text", expected: file.bytes }))) {
      throw await lostRace(args, files);
    }
    const { diff, isTruncated } = unified(displayForm(args.path), before, text);
    return {
      path: displayForm(args.path),
      size_bytes: bytes.length,
      content_hash: contentHash(bytes),
      previous_content_hash: contentHash(file.bytes),
      applied_edits: args.edits.length,
      first_changed_line: firstChangedLine,
      diff,
      diff_truncated: isTruncated,
    };
  },
});
