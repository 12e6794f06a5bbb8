/** `edit_file`: replaces texts in a file that is as its reader saw it, all of them or none. */
import * as E from "fp-ts/lib/Either.js";
import { objectSchema } from "../tool.ts";
import { contentHash, textOfBytes, utf8 } from "./bytes.ts";
import { unified } from "./diff.ts";
import { type Edit, planEdits, readEdits } from "./plan.ts";
import { readFile } from "./read.ts";
import type { FileStore, StoredFile } from "./store.ts";
import { displayPath } from "./path.ts";
import { Refusal, fileTool, required, shown, workspaceClass } from "./tool.ts";

interface Asked {
  readonly path: string;
  readonly expected: string;
  readonly edits: readonly Edit[];
}

const orRefuse = <A>(checked: E.Either<string, A>): A => {
  if (E.isLeft(checked)) throw new Refusal(checked.left);
  return checked.right;
};

/** The file, if it is a text, and still the one that was read. */
const current = async ({ path, expected }: Asked, files: FileStore): Promise<StoredFile> => {
  const file = await readFile(path, files);
  if (file.encoding !== "text") {
    throw new Refusal(
      `File '${shown(path)}' is not a text file. edit_file only supports text files; use write_file for binary/base64 content.`,
    );
  }
  const found = contentHash(file.bytes);
  if (found === expected) return file;
  throw new Refusal(
    `File '${shown(path)}' changed since the last read. Expected ${expected}, found ${found}. Read the file again before editing.`,
  );
};

/** Why a file that was as expected a moment ago is not written. */
const lost = async (asked: Asked, files: FileStore): Promise<Refusal> => {
  const { path, isReadonly } = await readFile(asked.path, files);
  if (isReadonly) return new Refusal(`Cannot modify readonly file: ${displayPath(path)}`);
  await current(asked, files);
  return new Refusal(`File '${displayPath(path)}' changed while it was edited. Read the file again before editing.`);
};

export const edit = fileTool<Asked>({
  name: "edit_file",
  displayName: "Edit File",
  description: "Replaces texts in a file. Each has to occur once, and the file has to be as it was last read.",
  properties: {
    path: { type: "string" },
    expected_hash: { type: "string", description: "The content_hash that read_file gave." },
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
  run: async (asked, files) => {
    const file = await current(asked, files);
    const before = textOfBytes(file.bytes);
    const { text, firstChangedLine } = orRefuse(planEdits(before, asked.edits));
    const bytes = utf8(text);
    if (!(await files.write(asked.path, bytes, { encoding: "text", expected: file.bytes }))) {
      throw await lost(asked, files);
    }
    const { diff, isTruncated } = unified(shown(asked.path), before, text);
    return {
      path: shown(asked.path),
      size_bytes: bytes.length,
      content_hash: contentHash(bytes),
      previous_content_hash: contentHash(file.bytes),
      applied_edits: asked.edits.length,
      first_changed_line: firstChangedLine,
      diff,
      diff_truncated: isTruncated,
    };
  },
});
