/** The file tools that write whole files, list, search and delete. */
import { type Json, stringify } from "@pawl/tool-value";
import type { BuiltinTool } from "../tool.ts";
import { isGiven, textOf } from "../tool.ts";
import { contentHash, fromBase64, utf8 } from "./bytes.ts";
import { displayPath } from "./path.ts";
import {
  type Page,
  Refusal,
  fileTool,
  pageOf,
  pageProperties,
  readonlyHints,
  required,
  displayForm,
  truncation,
  workspaceClass,
} from "./tool.ts";

const bytesOf = (content: string, encoding: "text" | "base64"): Uint8Array => {
  if (encoding === "text") return utf8(content);
  const bytes = fromBase64(content);
  if (bytes === undefined) throw new Refusal("Invalid base64 content");
  return bytes;
};

const write = fileTool({
  name: "write_file",
  displayName: "Write File",
  description: "Writes a whole file, and replaces the one that was there.",
  properties: {
    path: { type: "string" },
    content: { type: "string" },
    encoding: { type: "string", enum: ["text", "base64"] },
  },
  required: ["path", "content"],
  hints: { idempotent: true, concurrency_class: workspaceClass },
  mendable: ["readonly", "is_directory"],
  read: (args) => {
    const path = required(args, "path");
    const content = textOf(args["content"]);
    if (content === undefined) throw new Refusal("Missing required parameter: content");
    const encoding = args["encoding"] === "base64" ? ("base64" as const) : ("text" as const);
    return { path, content, encoding };
  },
  run: async ({ path, content, encoding }, files) => {
    const bytes = bytesOf(content, encoding);
    await files.write(path, bytes, { encoding });
    return { path: displayForm(path), size_bytes: bytes.length, created: true, content_hash: contentHash(bytes) };
  },
});

interface Paged {
  readonly items: readonly Json[];
  readonly total: number;
  readonly more: boolean;
  readonly next: number;
}

const paged = (all: readonly Json[], { offset, limit }: Page): Paged => {
  const items = all.slice(offset, offset + limit);
  const next = offset + items.length;
  return { items, total: all.length, more: next < all.length, next };
};

const cutOf = ({ items, more, next }: Paged, reason: "item_cap" | "line_cap", hint: string) => {
  const returned = utf8(stringify([...items])).length;
  return truncation(
    more ? { reason, returned, next: { offset: next, hint } } : { reason: "size_cap", returned, total: returned },
    more,
  );
};

const list = fileTool({
  name: "list_directory",
  displayName: "List Directory",
  description: "Lists the entries of a folder in the session's workspace.",
  properties: { path: { type: "string" }, ...pageProperties },
  required: [],
  hints: readonlyHints,
  mendable: ["not_found", "not_directory"],
  read: (args) => {
    const path = textOf(args["path"]);
    return { path: isGiven(path) ? path : "/workspace", page: pageOf(args) };
  },
  run: async ({ path, page }, files) => {
    const entries = (await files.list(path)).map((entry): Json => ({
      name: entry.name,
      path: displayPath(entry.path),
      is_directory: entry.isDirectory,
      size_bytes: entry.size,
      is_readonly: entry.isReadonly,
    }));
    const found = paged(entries, page);
    const hint = `call list_directory with offset=${found.next} to resume from item ${found.next + 1}`;
    return {
      path: displayForm(path),
      entries: [...found.items],
      count: found.items.length,
      total_count: found.total,
      ...page,
      truncation: cutOf(found, "item_cap", hint),
    };
  },
});

const grep = fileTool({
  name: "grep_files",
  displayName: "Grep Files",
  description: "Finds the lines of the session's files that match a regular expression.",
  properties: { pattern: { type: "string" }, path_pattern: { type: "string" }, ...pageProperties },
  required: ["pattern"],
  hints: readonlyHints,
  mendable: ["pattern"],
  read: (args) => ({
    pattern: required(args, "pattern"),
    paths: textOf(args["path_pattern"]),
    page: pageOf(args),
  }),
  run: async ({ pattern, paths, page }, files) => {
    const matches = (await files.grep(pattern, isGiven(paths) ? paths : undefined)).map(
      ({ path, line_number, line }): Json => ({ path: displayPath(path), line_number, line }),
    );
    const found = paged(matches, page);
    const hint = `call grep_files with offset=${found.next} to resume from match ${found.next + 1}`;
    return {
      pattern,
      matches: [...found.items],
      match_count: found.items.length,
      total_matches: found.total,
      ...page,
      truncation: cutOf(found, "line_cap", hint),
    };
  },
});

const remove = fileTool({
  name: "delete_file",
  displayName: "Delete File",
  description: "Deletes a file, or a folder with everything in it.",
  properties: { path: { type: "string" }, recursive: { type: "boolean" } },
  required: ["path"],
  hints: { destructive: true, idempotent: true, concurrency_class: workspaceClass },
  mendable: ["not_empty"],
  read: (args) => ({ path: required(args, "path"), recursive: args["recursive"] === true }),
  run: async ({ path, recursive }, files) => {
    if (!(await files.delete(path, recursive))) throw new Refusal(`File not found: ${displayForm(path)}`);
    return { path: displayForm(path), deleted: true };
  },
});

const instant = (at: number): string => new Date(at).toISOString();

const stat = fileTool({
  name: "stat_file",
  displayName: "File Info",
  description: "Returns the metadata of a file or a folder, and whether it exists.",
  properties: { path: { type: "string" } },
  required: ["path"],
  hints: readonlyHints,
  read: (args) => ({ path: required(args, "path") }),
  run: async ({ path }, files) => {
    const entry = await files.stat(path);
    if (entry === undefined) return { path: displayForm(path), exists: false };
    return {
      path: displayForm(path),
      name: entry.name,
      exists: true,
      is_directory: entry.isDirectory,
      is_readonly: entry.isReadonly,
      size_bytes: entry.size,
      created_at: instant(entry.createdAt),
      updated_at: instant(entry.updatedAt),
    };
  },
});

export const folderTools: readonly BuiltinTool[] = [write, list, grep, remove, stat];
