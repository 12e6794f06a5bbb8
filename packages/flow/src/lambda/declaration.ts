/**
 * The declaration of a lambda: not a function, but claims about the values that it is put on. In files it has a binary
 * form, little endian:
 *
 *   CE 9B 44 · version 01 · name · ontology · certainty f64 · tau start · tau end · provenance · derivation u8 · value
 *
 * A text has a length of two bytes in front, the value one of four.
 */
import { decimalText } from "@pawl/sansio-core/driver";
import { utf8 } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

export interface Declaration {
  readonly name: string;
  /** The kind of thing that its values are. */
  readonly ontology: string;
  readonly certainty: number;
  readonly temporal_frame_start: string;
  readonly temporal_frame_end: string;
  readonly provenance: string;
  readonly derivation: string;
}

/** A declaration in a file, with its value. */
export interface LambdaData extends Declaration {
  readonly value: Uint8Array;
}

/** Ordered from the most direct to the least. */
export const derivations = ["raw", "derived", "inferred", "aggregated", "transformed"] as const;

/** `invariant`: the claims contradict each other; `decode`: the bytes are not a declaration. */
export interface DeclarationError {
  readonly code: "invariant" | "decode";
  readonly message: string;
}
type Result<A> = E.Either<DeclarationError, A>;

const invariantError = (message: string): Result<never> =>
  E.left({ code: "invariant", message: `ΛD invariant violation: ${message}` });
const decodeError = (message: string): Result<never> =>
  E.left({ code: "decode", message: `ΛD decode error: ${message}` });

/** Checks the invariants of a declaration in a file. */
const checked = (data: LambdaData): Result<LambdaData> => {
  const { name, ontology, certainty, derivation } = data;
  if (ontology === "") return invariantError(`Ontological Rigidity: '${name}' has empty ontology (T = ⊥)`);
  if (!(certainty >= 0 && certainty <= 1)) {
    return invariantError(`Epistemic Bounding: certainty=${decimalText(certainty)} for '${name}' (must be in [0, 1])`);
  }
  if (certainty === 1 && derivation !== "raw") {
    return invariantError(
      `Epistemic Degradation: '${name}' has c=1.0 with δ=${derivation}, only raw may carry absolute certainty`,
    );
  }
  return E.right(data);
};

const magic = [0xce, 0x9b, 0x44] as const;
const version = 1;
const maxText = 0xffff;

class Writer {
  readonly #bytes: number[] = [];

  bytes(bytes: Iterable<number>): this {
    for (const byte of bytes) this.#bytes.push(byte);
    return this;
  }

  /** Writes an integer of `size` bytes, the lowest first. */
  number(value: number, size: number): this {
    return this.bytes(Array.from({ length: size }, (_, i) => Math.floor(value / 256 ** i) % 256));
  }

  float(value: number): this {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value, true);
    return this.bytes(new Uint8Array(view.buffer));
  }

  text(text: string): this {
    const bytes = utf8(text);
    return this.number(bytes.length, 2).bytes(bytes);
  }

  end(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

const derivationOf = ({ derivation }: Declaration): string => (derivation === "" ? "raw" : derivation);

/** Returns the error of a text that is too long for its length field, or of an unknown derivation. */
const formatError = (data: LambdaData): Result<never> | undefined => {
  const { name, ontology, temporal_frame_start, temporal_frame_end, provenance } = data;
  const long = [name, ontology, temporal_frame_start, temporal_frame_end, provenance].find(
    (text) => utf8(text).length > maxText,
  );
  if (long !== undefined) return invariantError(`string of ${utf8(long).length} bytes, expected at most ${maxText}`);
  const derivation = derivationOf(data);
  const isKnown = derivations.some((known) => known === derivation);
  return isKnown ? undefined : invariantError(`unknown derivation '${derivation}' (valid: ${derivations.join(", ")})`);
};

/** Writes a declaration as bytes. */
export const encodeDeclaration = (data: LambdaData): Result<Uint8Array> => {
  const derivation = derivationOf(data);
  const valid = checked({ ...data, derivation });
  if (E.isLeft(valid)) return valid;
  const problem = formatError(data);
  if (problem !== undefined) return problem;
  const writer = new Writer().bytes(magic).number(version, 1).text(data.name).text(data.ontology);
  writer.float(data.certainty).text(data.temporal_frame_start).text(data.temporal_frame_end).text(data.provenance);
  const tag = derivations.findIndex((known) => known === derivation);
  return E.right(writer.number(tag, 1).number(data.value.length, 4).bytes(data.value).end());
};

class Unreadable extends Error {}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  take(size: number, what: string): Uint8Array {
    const end = this.#at + size;
    if (end > this.#bytes.length) throw new Unreadable(`truncated: missing ${what}`);
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  number(size: number, what: string): number {
    return this.take(size, what).reduceRight((value, byte) => value * 256 + byte, 0);
  }

  float(what: string): number {
    const { buffer, byteOffset } = this.take(8, what);
    return new DataView(buffer, byteOffset, 8).getFloat64(0, true);
  }

  text(what: string): string {
    const bytes = this.take(this.number(2, `length of ${what}`), what);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new Unreadable("invalid UTF-8 in string field");
    }
  }
}

const hexByte = (byte: number): string => byte.toString(16).toUpperCase().padStart(2, "0");
const hexBytes = (bytes: Iterable<number>): string => `[${[...bytes].map(hexByte).join(" ")}]`;

const readHead = (reader: Reader): void => {
  const head = reader.take(3, "magic bytes");
  if (magic.some((byte, i) => head[i] !== byte)) {
    throw new Unreadable(`invalid magic: expected ${hexBytes(magic)}, got ${hexBytes(head)}`);
  }
  const found = reader.number(1, "version byte");
  if (found !== version) throw new Unreadable(`unsupported version: ${found} (expected ${version})`);
};

const readData = (reader: Reader): LambdaData => {
  readHead(reader);
  const name = reader.text("name");
  const ontology = reader.text("ontology");
  const certainty = reader.float("certainty");
  const temporal_frame_start = reader.text("temporal frame start");
  const temporal_frame_end = reader.text("temporal frame end");
  const provenance = reader.text("provenance");
  const tag = reader.number(1, "derivation tag");
  const derivation = derivations[tag];
  if (derivation === undefined) throw new Unreadable(`invalid derivation tag: ${tag}`);
  const value = reader.take(reader.number(4, "value length"), "value").slice();
  return { name, ontology, certainty, temporal_frame_start, temporal_frame_end, provenance, derivation, value };
};

/** Reads a declaration from bytes, and ignores any bytes after it. */
export const decodeDeclaration = (bytes: Uint8Array): Result<LambdaData> => {
  try {
    return checked(readData(new Reader(bytes)));
  } catch (thrown) {
    if (thrown instanceof Unreadable) return decodeError(thrown.message);
    throw thrown;
  }
};

const rankOf = (derivation: string): number => derivations.findIndex((known) => known === (derivation || "raw"));

/** Returns the earlier of two ends; an empty one never comes. */
const earlierEnd = (a: string, b: string): string => (a === "" ? b : b === "" || a < b ? a : b);

/** Composes two declarations: the lower certainty, the later derivation, the overlap of their time frames. */
export const composeDeclarations = (a: LambdaData, b: LambdaData, name: string, ontology: string): Result<LambdaData> =>
  checked({
    name,
    ontology,
    certainty: Math.min(a.certainty, b.certainty),
    temporal_frame_start:
      a.temporal_frame_start > b.temporal_frame_start ? a.temporal_frame_start : b.temporal_frame_start,
    temporal_frame_end: earlierEnd(a.temporal_frame_end, b.temporal_frame_end),
    provenance: [a.provenance, b.provenance].filter((part) => part !== "").join(" ∘ "),
    derivation: derivations[Math.max(rankOf(a.derivation), rankOf(b.derivation), 0)] as string,
    value: new Uint8Array(),
  });

const clamped = (certainty: number): number => Math.min(1, Math.max(0, certainty));

/** Returns the highest certainty of a conclusion from two declarations. */
export const certaintyCeiling = (a: number, b: number): number => Math.min(clamped(a), clamped(b));

/** Returns a declaration as JSON, with the length of its value instead of the value. */
export const declarationJson = ({ value, ...declaration }: LambdaData): object => ({
  _ld_version: version,
  _ld_lossy: true,
  ...declaration,
  value_bytes: value.length,
});
