/** Long frames, read and written a slice at a time: a host serves others in between. */
import { CallOfRequestCodec, ReplyCodec } from "@pawl/runtime/driver";
import {
  type Json,
  type Slices,
  type ValueError,
  array,
  defaultLimits,
  encodeSlices,
  isHeavy,
  isObject,
  mapSlices,
  parse,
  readOwned,
  recordSlices,
  sliceOf,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { ClientFrame } from "./client-frame.ts";
import { HostFrame } from "./host-frame.ts";
import { frameText } from "./text.ts";

const Calls = array(CallOfRequestCodec);

/** The calls of a frame that has many of them. */
const manyCalls = (frame: Json): readonly Json[] | undefined => {
  const calls = isObject(frame) && frame["type"] === "call" ? frame["calls"] : undefined;
  return Array.isArray(calls) && calls.length > sliceOf ? calls : undefined;
};

/** Reads a client's frame as `readFrame` does. Its text is parsed in one piece. */
export function* readSlices(text: string, size: number): Slices<E.Either<ValueError, ClientFrame>> {
  const parsed = parse(text, { ...defaultLimits, size });
  if (E.isLeft(parsed)) return parsed;
  yield;
  const frame = parsed.right;
  const given = manyCalls(frame);
  if (given === undefined) return readOwned(ClientFrame, frame);
  const read = readOwned(ClientFrame, { ...(frame as object), calls: [] });
  const calls = yield* mapSlices(given, (slice) => E.getOrElse(() => [] as Calls)(readOwned(Calls, slice)));
  const isWhole = E.isRight(read) && read.right.type === "call" && calls.length === given.length;
  return isWhole ? E.right({ ...read.right, calls } as ClientFrame) : readOwned(ClientFrame, frame);
}

type Calls = readonly (typeof CallOfRequestCodec)["_A"][];

/** Returns the text of a host's frame, as `frameText` does. */
export function* frameSlices(frame: HostFrame): Slices<string> {
  if (frame.type !== "replied") return frameText(HostFrame, frame);
  yield* encodeSlices(ReplyCodec, frame.replies);
  const encoded = HostFrame.encode(frame);
  if (isHeavy(encoded)) yield;
  return yield* recordSlices(encoded);
}
