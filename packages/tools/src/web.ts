/** `web_fetch`: what is asked is looked at here; the fetching is a port's, which guards where requests may go. */
import type { JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { success, toolError } from "@pawl/runtime";
import { type BuiltinTool, isGiven, objectSchema, textOf } from "./tool.ts";

export interface WebRequest {
  readonly url: string;
  readonly method: "GET" | "HEAD";
  readonly format: "markdown" | "text" | "raw";
}

/** Fetches, or says in words that a model may read why it did not. */
export type WebPort = (request: WebRequest) => Promise<E.Either<string, JsonObject>>;

export const readRequest = (args: JsonObject): E.Either<string, WebRequest> => {
  const url = textOf(args["url"])?.trim();
  if (!isGiven(url)) return E.left("Missing required parameter: url");
  const method = (textOf(args["method"]) ?? "GET").toUpperCase();
  if (method !== "GET" && method !== "HEAD") return E.left("Invalid method: must be GET or HEAD");
  if (!/^https?:\/\//i.test(url)) return E.left("Invalid URL: must start with http:// or https://");
  const text = args["as_text"] === true ? "text" : "raw";
  return E.right({ url, method, format: args["as_markdown"] === true ? "markdown" : text });
};

/** Without a port nothing is fetched. */
export const webFetch = (port?: WebPort): BuiltinTool => ({
  name: "web_fetch",
  displayName: "Web Fetch",
  description: "Fetches a page of the web, as it is, as text, or as Markdown.",
  parameters: objectSchema(
    {
      url: { type: "string" },
      method: { type: "string", enum: ["GET", "HEAD"] },
      as_markdown: { type: "boolean" },
      as_text: { type: "boolean" },
    },
    ["url"],
  ),
  hints: { readonly: true, open_world: true, long_running: true },
  execute: async (args) => {
    const request = readRequest(args);
    if (E.isLeft(request)) return toolError(request.left);
    if (port === undefined) return toolError("Failed to create HTTP client");
    return E.match(toolError, success)(await port(request.right));
  },
});
