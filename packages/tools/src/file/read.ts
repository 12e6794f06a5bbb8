/** `read_file`: numbered lines within limits, images as images, and a note for any other binary file. */
import type { JsonObject } from "@pawl/tool-value";
import { type ExecutionResult, successWithImages } from "@pawl/runtime";
import { contentHash, textOfBytes, toBase64, utf8 } from "./bytes.ts";
import { linesOf } from "./match.ts";
import { displayPath } from "./path.ts";
import { Refusal, fileTool, readonlyHints, required, displayForm, truncation, countIn } from "./tool.ts";
import type { FileStore, StoredFile } from "./store.ts";

interface ReadArguments {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
}

const maxBytes = 50 * 1024;
const images: { readonly [extension: string]: string } = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};
const binaries =
  /\.(?:png|jpe?g|gif|webp|bmp|tiff?|psd|heic|zip|gz|tar|tgz|bz2|xz|7z|rar|zst|pdf|docx?|xlsx?|pptx?|exe|dll|so|dylib|bin|o|a|class|jar|pyc|wasm|mp3|wav|flac|ogg|mp4|mov|avi|mkv|webm|ico|woff2?|ttf|otf|eot|sqlite3?|db|dmg|iso)$/i;

const extensionOf = (path: string): string => /\.[^./]+$/.exec(path)?.[0]?.toLowerCase() ?? "";

interface Kind {
  readonly type?: "log" | "csv" | "minified";
  readonly limit: number;
}
const kindOf = (path: string): Kind => {
  if (/\.(?:log|out)$/i.test(path)) return { type: "log", limit: 500 };
  if (/\.(?:csv|tsv)$/i.test(path)) return { type: "csv", limit: 100 };
  return /\.min\.(?:js|css)$/i.test(path) ? { type: "minified", limit: 20 } : { limit: 2000 };
};

const note = "Binary file — use a different tool or download to inspect.";

const binary = (file: StoredFile, encoding: "base64" | "binary"): JsonObject => ({
  path: displayPath(file.path),
  content_type: "binary",
  encoding,
  size_bytes: file.bytes.length,
  note,
  content_hash: contentHash(file.bytes),
  truncation: truncation({ reason: "size_cap", returned: 0, total: file.bytes.length }, false),
});

const image = (file: StoredFile, media_type: string): ExecutionResult =>
  successWithImages(
    {
      path: displayPath(file.path),
      media_type,
      size_bytes: file.bytes.length,
      content_hash: contentHash(file.bytes),
    },
    [{ base64: toBase64(file.bytes), media_type }],
  );

interface Window {
  readonly start: number;
  readonly end: number;
  readonly isTail: boolean;
}

const windowOf = ({ offset, limit }: ReadArguments, kind: Kind, count: number): Window => {
  const maxLines = limit ?? kind.limit;
  const isTail = kind.type === "log" && offset === undefined;
  const start = isTail ? Math.max(0, count - maxLines) : Math.min(offset ?? 0, count);
  return { start, end: Math.min(start + maxLines, count), isTail };
};

/** Cuts a text to `maxBytes`, between two characters. */
const capped = (text: string): string => {
  const bytes = utf8(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return textOfBytes(bytes.subarray(0, end));
};

const textFile = (file: StoredFile, args: ReadArguments): JsonObject => {
  const lines = linesOf(textOfBytes(file.bytes));
  const kind = kindOf(file.path);
  const { start, end, isTail } = windowOf(args, kind, lines.length);
  const numbered = lines.slice(start, end).map((line, i) => `${start + i + 1}|${line}`);
  const header = kind.type === "csv" && start > 0 && lines[0] !== undefined ? [`1|${lines[0]}`] : [];
  const full = [...header, ...numbered].join("\n");
  const content = capped(full);
  const isCapped = content !== full;
  const isLineCut = end < lines.length;
  const next = { offset: end, hint: `call read_file with offset=${end} to resume from line ${end + 1}` };
  const returned = utf8(content).length;
  const isTailCut = isTail && start > 0;
  const isCut = isCapped || isLineCut || isTailCut;
  return {
    path: displayPath(file.path),
    content,
    total_lines: lines.length,
    lines_shown: start === end ? { start: 0, end: 0 } : { start: start + 1, end },
    truncated: isCut,
    size_bytes: file.bytes.length,
    content_hash: contentHash(file.bytes),
    ...(kind.type === undefined ? {} : { content_type: kind.type }),
    ...(isTail ? { read_mode: "tail" } : {}),
    truncation: truncation(
      {
        reason: isLineCut || isTailCut ? "line_cap" : "size_cap",
        returned,
        total: isCut ? file.bytes.length : returned,
        ...(isLineCut ? { next } : {}),
      },
      isCut,
    ),
  };
};

export const readFile = async (path: string, files: FileStore): Promise<StoredFile> => {
  const entry = await files.stat(path);
  if (entry?.isDirectory) {
    throw new Refusal(`Path '${displayForm(path)}' is a directory, not a file. Use list_directory instead.`);
  }
  const file = await files.read(path);
  if (file === undefined) throw new Refusal(`File not found: ${displayForm(path)}`);
  return file;
};

export const read = fileTool<ReadArguments>({
  name: "read_file",
  displayName: "Read File",
  description: "Reads a file of the session: text as numbered lines, images as images.",
  properties: {
    path: { type: "string" },
    offset: { type: "integer", minimum: 0, description: "The number of lines to skip." },
    limit: { type: "integer", minimum: 1, description: "The number of lines to read." },
  },
  required: ["path"],
  hints: readonlyHints,
  read: (args) => {
    const [offset, limit] = [countIn(args["offset"]), countIn(args["limit"])];
    return {
      path: required(args, "path"),
      ...(offset === undefined ? {} : { offset }),
      ...(limit === undefined ? {} : { limit }),
    };
  },
  run: async (args, files) => {
    const file = await readFile(args.path, files);
    const media = images[extensionOf(file.path)];
    if (file.encoding === "base64") return media === undefined ? binary(file, "base64") : image(file, media);
    const isExplicit = args.offset !== undefined && args.limit !== undefined;
    return binaries.test(file.path) && !isExplicit ? binary(file, "binary") : textFile(file, args);
  },
});
