/** Checks of arguments before anything is sent: a host can only drop a frame that it cannot read. */
import { type Codec, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { ClientFrame } from "../frame/client-frame.ts";
import { HostRefused } from "./error.ts";

export const invalidArgument = (message: string): HostRefused => new HostRefused("invalid_argument", message);

const excerpt = (u: unknown): string => {
  if (typeof u === "string") return JSON.stringify(u.length > 100 ? `${u.slice(0, 100)}…` : u);
  return u === null || typeof u === "number" || typeof u === "boolean" ? String(u) : typeof u;
};

export const checkName = (what: string, name: unknown): void => {
  if (typeof name !== "string" || name === "")
    throw invalidArgument(`${what} must be a non-empty string, found ${excerpt(name)}`);
};

export const checkCount = (what: string, count: unknown, least: number): void => {
  if (!Number.isSafeInteger(count) || (count as number) < least)
    throw invalidArgument(`${what} must be an integer of at least ${least}, found ${excerpt(count)}`);
};

export const checkToken = (token: unknown): void => {
  if (typeof token !== "function" && (typeof token !== "string" || token === ""))
    throw invalidArgument(
      `token must be a string that the host signed, or a function that returns one, found ${excerpt(token)}`,
    );
};

export const checkBackoff = ({ minMs, maxMs }: { readonly minMs: unknown; readonly maxMs: unknown }): void => {
  checkCount("backoff.minMs", minMs, 1);
  checkCount("backoff.maxMs", maxMs, minMs as number);
};

export const checkRecord = (what: string, u: unknown): void => {
  if (typeof u !== "object" || u === null) throw invalidArgument(`${what} must be an object, found ${excerpt(u)}`);
};

export const checkTools = (tools: unknown): void => {
  if (typeof tools !== "object" || tools === null)
    throw invalidArgument(`tools must be an object of functions by tool id, found ${excerpt(tools)}`);
  for (const [id, tool] of Object.entries(tools)) {
    checkName("the id of a tool", id);
    if (typeof tool !== "function") throw invalidArgument(`tool \`${id}\` must be a function, found ${excerpt(tool)}`);
  }
};

const encoded = <A>(codec: Codec<A>, frame: A): unknown => {
  try {
    return codec.encode(frame);
  } catch {
    return frame; // The codec cannot even write it: reading it reports the wrong field.
  }
};

/** Returns the frame as the host will read it; throws `invalid_argument` if the host could not. */
export const checkedFrame = <A extends ClientFrame>(frame: A): A => {
  const checked = read<ClientFrame>(ClientFrame, encoded<ClientFrame>(ClientFrame, frame));
  if (E.isLeft(checked)) throw invalidArgument(`${frame.type}: ${describe(checked.left)}`);
  return checked.right as A;
};
