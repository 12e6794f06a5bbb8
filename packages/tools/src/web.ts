/** `web_fetch`: checks the request here, and fetches through a port, which guards the addresses. */
import type { JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { success, toolError } from "@pawl/runtime";
import { encodingOf } from "./file/bytes.ts";
import { canonicalPath, displayPath } from "./file/path.ts";
import { FileError, type FileStore } from "./file/store.ts";
import { type BuiltinTool, isGiven, objectSchema, textOf } from "./tool.ts";

export interface WebRequest {
  readonly url: string;
  readonly method: "GET" | "HEAD";
  readonly format: "markdown" | "text" | "raw";
}

/** A whole response body with its metadata. */
export interface Download {
  readonly metadata: JsonObject;
  readonly bytes: Uint8Array;
}

/** The port for fetching. A failure is a text that the model may read. */
export interface WebPort {
  (request: WebRequest): Promise<E.Either<string, JsonObject>>;
  /** Downloads a whole body of any type; without it nothing can be saved. */
  readonly download?: (request: WebRequest) => Promise<E.Either<string, Download>>;
}

export interface WebFetchOptions {
  /** Offers the model to save responses to the session's files. */
  readonly fileDownload?: boolean;
}

/** Reads the arguments of `web_fetch`. */
export const readRequest = (args: JsonObject): E.Either<string, WebRequest> => {
  const url = textOf(args["url"])?.trim();
  if (!isGiven(url)) return E.left("Missing required parameter: url");
  const method = (textOf(args["method"]) ?? "GET").toUpperCase();
  if (method !== "GET" && method !== "HEAD") return E.left("Invalid method: must be GET or HEAD");
  if (!/^https?:\/\//i.test(url)) return E.left("Invalid URL: must start with http:// or https://");
  const text = args["as_text"] === true ? "text" : "raw";
  return E.right({ url, method, format: args["as_markdown"] === true ? "markdown" : text });
};

const properties = {
  url: { type: "string" },
  method: { type: "string", description: "GET or HEAD; GET by default." },
  as_markdown: { type: "boolean" },
  as_text: { type: "boolean" },
};
const saving = {
  save_to_file: { type: "string", description: "The path of a file: the body is saved there instead of returned." },
};

const readableMessage = (error: unknown): string => {
  if (error instanceof FileError) return error.message;
  throw error;
};

const save = async (
  port: WebPort,
  request: WebRequest,
  path: string,
  files: FileStore | undefined,
): Promise<E.Either<string, JsonObject>> => {
  if (files === undefined) return E.left("File system not available in this context");
  if (port.download === undefined) return E.left("File saving not available");
  const fetched = await port.download({ ...request, method: "GET" });
  if (E.isLeft(fetched)) return fetched;
  const { metadata, bytes } = fetched.right;
  try {
    const saved_path = displayPath(canonicalPath(path));
    await files.write(path, bytes, { encoding: encodingOf(bytes) });
    return E.right({ ...metadata, saved_path, bytes_written: bytes.length });
  } catch (error) {
    return E.left(`Failed to save file: ${readableMessage(error)}`);
  }
};

/** Defines `web_fetch`. Without a port it fetches nothing; without a context it saves nothing. */
export const webFetch = (port?: WebPort, { fileDownload = false }: WebFetchOptions = {}): BuiltinTool => ({
  name: "web_fetch",
  displayName: "Web Fetch",
  description: "Fetches a web page: unchanged, as text, or as Markdown.",
  parameters: objectSchema(fileDownload ? { ...properties, ...saving } : properties, ["url"]),
  requiresContext: true,
  hints: { readonly: true, open_world: true, long_running: true },
  execute: async (args, context) => {
    const request = readRequest(args);
    if (E.isLeft(request)) return toolError(request.left);
    if (port === undefined) return toolError("Failed to create HTTP client");
    const path = context === undefined ? undefined : textOf(args["save_to_file"])?.trim();
    if (isGiven(path) && !fileDownload) return toolError("File saving not available");
    const fetched = isGiven(path) ? save(port, request.right, path, context?.files) : port(request.right);
    const result = await fetched;
    return E.isLeft(result) ? toolError(result.left) : success(result.right);
  },
});
