/**
 * Sealed values: a host's codec encrypts or redacts values at the edge of the journal. Everything that a log needs to be
 * understood stays in clear: keys, types, times, and references to blobs, whose bytes are sealed themselves. A sealed value is a
 * text in base64; its line ends in `sealed`, with the blobs that only the sealed values name:
 *
 *   {"seq":3,…,"event":{"type":"step.settled",…,"result":{"status":"ok","value":"AZ5f…"}},"cmds":"…","sealed":[]}
 */
import * as E from "fp-ts/lib/Either.js";
import { EventCodec, type Recorded, eventLine, recordedOf } from "@pawl/sansio-core";
import { SnapshotCodec } from "@pawl/sansio-core/driver";
import {
  type Codec,
  type Json,
  type JsonObject,
  describe,
  mapValues,
  noLimits,
  parse,
  readOwned,
  stringify,
  utf8,
} from "@pawl/tool-value";
import { base64Of, bytesOf, readText } from "../encoding.ts";
import { blobAt, namesIn } from "./blob.ts";

/** Sealed values cannot be opened here. */
export class SealedError extends Error {
  override readonly name = "SealedError";
  readonly code: "key_gone" | "key_missing" | "seal_broken";
  constructor(code: SealedError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Recognises a sealed line by its end; lines in clear end in their digest. */
export const isSealedLine = (line: string): boolean => line.endsWith("]}\n") && line.includes(',"sealed":[');

/** Makes the refusal to read sealed values without a codec: they would be taken for the values themselves. */
export const sealedHere = (scope: string): SealedError =>
  new SealedError(
    "key_missing",
    `the values of ${scope} are sealed, and nothing here opens them: name what sealed them, as \`codec\` of openRuntime or \`keys\` of pawl host`,
  );

/** The place of sealed bytes. They cannot be opened at another place. */
export interface SealPlace {
  readonly scope: string;
  /** The sequence and path of a value in an event, or the name of a blob. */
  readonly at: string;
}

/** The port that a host implements. Both methods may be asynchronous, as WebCrypto is. */
export interface ValueCodec {
  /** Returns the bytes to store. Those of a blob must begin with the byte 1, which no text begins with. */
  readonly seal: (place: SealPlace, bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;
  /** Returns the bytes that were sealed at the place. Rejects with a `SealedError` if it cannot. */
  readonly open: (place: SealPlace, sealed: Uint8Array) => Uint8Array | Promise<Uint8Array>;
}

type Turn = (value: Json, at: string) => Promise<Json>;

/** Maps the values of a document asynchronously: one pass collects them, a second puts the results in. */
const mapLater = async <A>(codec: Codec<A>, json: Json, turn: Turn): Promise<Json> => {
  const found: (readonly [string, Json])[] = [];
  mapValues(codec, json, (value, path) => {
    if (blobAt(value) === undefined) found.push([path.join("/"), value]);
    return value;
  });
  if (found.length === 0) return json;
  const turned = await Promise.all(found.map(async ([at, value]) => [at, await turn(value, at)] as const));
  const byPlace = new Map(turned);
  return mapValues(codec, json, (value, path) => {
    const place = path.join("/");
    return byPlace.has(place) ? (byPlace.get(place) as Json) : value;
  });
};

const sealing =
  (codec: ValueCodec, scope: string, seq: number): Turn =>
  async (value, at) =>
    base64Of(await codec.seal({ scope, at: `${seq}/${at}` }, utf8(stringify(value))));

const broken = (scope: string, at: string): SealedError =>
  new SealedError("seal_broken", `${scope}: what stands at ${at} was not sealed there`);

const opening =
  (codec: ValueCodec, scope: string, seq: number): Turn =>
  async (value, at) => {
    const place = { scope, at: `${seq}/${at}` };
    if (typeof value !== "string") throw broken(scope, place.at);
    const json = parse(new TextDecoder().decode(await codec.open(place, bytesOf(value))), noLimits);
    if (E.isLeft(json)) throw broken(scope, place.at);
    return json.right;
  };

/** Lists the blobs whose names the seals hide. */
const hiddenIn = (before: string, after: string): readonly Json[] => {
  const seen = new Set(namesIn(after));
  return [...new Set(namesIn(before))].filter((name) => !seen.has(name)).map((name) => ({ id: `blob:${name}` }));
};

const recorded = (line: string): Recorded => {
  const read = readText(line, recordedOf);
  if (E.isRight(read)) return read.right;
  throw new TypeError(`a line to be sealed or opened: ${describe(read.left)}`);
};

/** Seals or opens the values of a line. A line without values stays as it is. */
const turned = async (line: string, turn: (seq: number) => Turn): Promise<string> => {
  const { event, ...rest } = recorded(line);
  const encoded = EventCodec.encode(event) as Json;
  const json = await mapLater(EventCodec, encoded, turn(rest.seq));
  if (json === encoded) return line;
  const read = readOwned(EventCodec, json);
  if (E.isLeft(read)) throw new TypeError(`an event that was sealed or opened: ${describe(read.left)}`);
  return eventLine({ ...rest, event: read.right });
};

export const sealLine = async (codec: ValueCodec, scope: string, line: string): Promise<string> => {
  const sealed = await turned(line, (seq) => sealing(codec, scope, seq));
  return sealed === line ? line : sealed.replace(/\}\n$/, `,"sealed":${stringify(hiddenIn(line, sealed))}}\n`);
};

export const openLine = async (codec: ValueCodec, scope: string, line: string): Promise<string> =>
  isSealedLine(line) ? turned(line, (seq) => opening(codec, scope, seq)) : line;

const snapshotOf = (text: string): JsonObject => {
  const json = parse(text, noLimits);
  if (E.isLeft(json)) throw new TypeError(`a snapshot to be sealed or opened: ${describe(json.left)}`);
  return json.right as JsonObject;
};

export const sealSnapshot = async (codec: ValueCodec, scope: string, text: string): Promise<string> => {
  const json = snapshotOf(text);
  const turn = sealing(codec, scope, json["seq"] as number);
  const sealed = (await mapLater(SnapshotCodec, json, turn)) as JsonObject;
  return stringify({ ...sealed, sealed: hiddenIn(text, stringify(sealed)) });
};

export const openSnapshot = async (codec: ValueCodec, scope: string, text: string): Promise<string> => {
  const { sealed, ...json } = snapshotOf(text);
  if (sealed === undefined) return text;
  return stringify(await mapLater(SnapshotCodec, json, opening(codec, scope, json["seq"] as number)));
};
