/** Handles: how tools and models name a process. */
import type { Json, JsonObject } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { isBlank } from "../identity/blank.ts";
import type { HandleDescriptor, ProcessRecord } from "../process/model.ts";

/** The value that stands for a process. */
export const handleValue = (processId: string): JsonObject => ({ __handle__: "process", id: processId });

const field = (handle: Json, key: string): Json | undefined => {
  const isObject = typeof handle === "object" && handle !== null && !Array.isArray(handle);
  return isObject && Object.hasOwn(handle, key) ? (handle as JsonObject)[key] : undefined;
};

/** The process that a handle names, or what is wrong with the handle; keys beyond the two are nobody's business. */
export const parseHandle = (handle: Json): E.Either<string, string> => {
  const kind = field(handle, "__handle__");
  if (typeof kind !== "string") return E.left("Invalid process handle: missing `__handle__`");
  if (kind !== "process") return E.left(`Invalid process handle kind: ${kind}`);
  const id = field(handle, "id");
  return typeof id === "string" && !isBlank(id) ? E.right(id) : E.left("Invalid process handle: missing `id`");
};

/** What is said of a handle that its holder may not use, or that nobody granted. */
export const notVisible = (processId: string): string =>
  `process handle \`${processId}\` is not live or visible in this session`;
export const notGranted = (processId: string, sessionId: string): string =>
  `process handle \`${processId}\` is not granted to session \`${sessionId}\``;

/** How a process is described to whoever starts it. */
export const descriptorOf = ({ identity: { kind, label } }: Pick<ProcessRecord, "identity">): HandleDescriptor =>
  label === undefined ? { kind } : { kind, label };
