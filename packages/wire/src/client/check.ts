/** What a program hands to a client, looked at before anything is sent: a host could only drop what it can not read. */
import { type Codec, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { ClientFrame } from "../frame/client-frame.ts";
import { HostRefused } from "./error.ts";

export const invalid = (message: string): HostRefused => new HostRefused("invalid_argument", message);

/** What was received, in a few words. */
const shown = (u: unknown): string => {
  if (typeof u === "string") return JSON.stringify(u.length > 100 ? `${u.slice(0, 100)}…` : u);
  return u === null || typeof u === "number" || typeof u === "boolean" ? String(u) : typeof u;
};

export const checkName = (what: string, name: unknown): void => {
  if (typeof name !== "string" || name === "")
    throw invalid(`${what} is a text that is not empty, found ${shown(name)}`);
};

export const checkCount = (what: string, count: unknown, least: number): void => {
  if (!Number.isSafeInteger(count) || (count as number) < least)
    throw invalid(`${what} is a whole number from ${least}, found ${shown(count)}`);
};

export const checkToken = (token: unknown): void => {
  if (typeof token !== "function" && (typeof token !== "string" || token === ""))
    throw invalid(`token is a text that the host signed, or a function that gets one, found ${shown(token)}`);
};

export const checkBackoff = ({ minMs, maxMs }: { readonly minMs: unknown; readonly maxMs: unknown }): void => {
  checkCount("backoff.minMs", minMs, 1);
  checkCount("backoff.maxMs", maxMs, minMs as number);
};

export const checkRecord = (what: string, u: unknown): void => {
  if (typeof u !== "object" || u === null) throw invalid(`${what} is an object, found ${shown(u)}`);
};

export const checkTools = (tools: unknown): void => {
  if (typeof tools !== "object" || tools === null)
    throw invalid(`tools are functions by tool id, found ${shown(tools)}`);
  for (const [id, tool] of Object.entries(tools)) {
    checkName("the id of a tool", id);
    if (typeof tool !== "function") throw invalid(`tool \`${id}\` is a function, found ${shown(tool)}`);
  }
};

const encoded = <A>(codec: Codec<A>, frame: A): unknown => {
  try {
    return codec.encode(frame);
  } catch {
    return frame; // What has not even the form that can be written down is told apart by the reader.
  }
};

/** A frame as the host will read it. */
export const checkedFrame = <A extends ClientFrame>(frame: A): A => {
  const checked = read<ClientFrame>(ClientFrame, encoded<ClientFrame>(ClientFrame, frame));
  if (E.isLeft(checked)) throw invalid(`${frame.type}: ${describe(checked.left)}`);
  return checked.right as A;
};
