/**
 * The one gate by which a JavaScript value becomes a ToolValue. What passes is a fresh copy in *normal form*, which is
 * what reading its own canonical text gives back: keys in code unit order, no -0, integers of the safe range as
 * numbers, all others as bigints. A body that is handed a value live and in a re-run is handed the same to the bit.
 */
import * as E from "fp-ts/lib/Either.js";
import { Attachment, AttachmentRef } from "./attachment.ts";
import { typeMessage } from "./codec.ts";
import {
  type Json,
  type Path,
  type ValueError,
  type ValueErrorCode,
  loneSurrogate,
  setKey,
  sortedKeys,
} from "./json.ts";
import { type Limits, exceeds, leastDigits, longInteger, tooManyDigits } from "./limits.ts";
import { type ToolValue, tagKey } from "./model.ts";
import { read } from "./record.ts";

/** What else than JSON may stand in the input: the tags of encoded values, or attachments themselves. */
export type Form = "json" | "encoded" | "value";

type Container = { [key: string]: ToolValue } | ToolValue[];

/** One container on the way down: what it is read from, what it is copied to, and how far. */
class Frame {
  readonly source: object;
  /** Of an object; an array has none. */
  readonly keys: readonly string[] | undefined;
  readonly target: Container;
  /** The source stands under `entries` in an escaped object. */
  readonly wrapped: boolean;
  /** The child that is read; while a container among the children is innermost, that child. */
  index = 0;

  constructor(source: object, keys: readonly string[] | undefined, wrapped: boolean) {
    this.source = source;
    this.keys = keys;
    this.target = keys === undefined ? [] : {};
    this.wrapped = wrapped;
  }

  advance(): void {
    this.index += 1;
  }
}

class Refusal {
  readonly code: ValueErrorCode;
  readonly message: string;
  readonly below: Path;
  constructor(code: ValueErrorCode, message: string, below: Path = []) {
    this.code = code;
    this.message = message.toWellFormed(); // A message may quote the input.
    this.below = below;
  }
}

const invalid = (message: string): Refusal => new Refusal("invalid_value", message);
const nonFinite = invalid("non-finite number is not a valid tool value");
const illFormed = invalid(loneSurrogate);
const undefinedValue = invalid("undefined is not a valid tool value");
const hole = invalid("a hole in an array is not a valid tool value");
const cyclic = invalid("a value must not contain itself");
const threw = invalid("reading the value threw: it has a getter or is a proxy");

/** The text of a large number has its shortest digits, which BigInt(n) would not keep: 2 ** 60 ends in 7000. */
const integer = (n: number): ToolValue => {
  if (n === 0) return 0;
  return n > Number.MAX_SAFE_INTEGER || n < -Number.MAX_SAFE_INTEGER ? BigInt(`${n}`) : n;
};

/** 1e21 is where ECMAScript's number text turns to an exponent, and so ceases to be an integer literal. */
const normalNumber = (n: number): ToolValue | Refusal => {
  if ((n | 0) === n && n !== 0) return n;
  if (!Number.isFinite(n)) return nonFinite;
  return Number.isInteger(n) && n < 1e21 && n > -1e21 ? integer(n) : n;
};

const isPlain = (prototype: unknown): boolean =>
  prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;

const className = (source: object): string => {
  const name: unknown = (source as { readonly constructor?: { readonly name?: unknown } }).constructor?.name;
  return typeof name === "string" && name !== "" ? name : "a class";
};

const notPlain = (source: object): Refusal => {
  const isBytes = ArrayBuffer.isView(source) || source instanceof ArrayBuffer;
  const advice = isBytes ? "; store bytes as an attachment" : "";
  return invalid(`expected a plain object or array, found an instance of ${className(source)}${advice}`);
};

const malformed = (message: string): Refusal => new Refusal("malformed_tag", message);

const attached = (ref: unknown): Attachment | Refusal => {
  const result = read(AttachmentRef, ref);
  if (E.isRight(result)) return new Attachment(result.right);
  return new Refusal("malformed_tag", result.left.message, ["ref", ...result.left.path]);
};

type Admitted = ToolValue | Frame | Refusal;

class Reader {
  readonly #form: Form;
  readonly #limits: Limits;
  readonly #frames: Frame[] = [];
  #size: number;
  /** Of long integers, at least. */
  #digits = 0;
  /** What was read is JSON: it holds no attachment. */
  isJson = true;

  constructor(form: Form, limits: Limits) {
    this.#form = form;
    this.#limits = limits;
    this.#size = limits.size;
  }

  run(input: unknown): E.Either<ValueError, ToolValue> {
    const result = this.#attempt(input);
    if (!(result instanceof Refusal)) return E.right(result);
    return E.left({ code: result.code, path: [...this.#path(), ...result.below], message: result.message });
  }

  #attempt(input: unknown): ToolValue | Refusal {
    try {
      const root = this.#admit(input);
      if (root instanceof Frame) return this.#readAll(root);
      return this.#size < 0 ? this.#tooLarge() : root;
    } catch {
      return threw;
    }
  }

  /** Depth first, on a stack of its own: no depth of input reaches the end of JavaScript's. */
  #readAll(root: Frame): ToolValue | Refusal {
    this.#frames.push(root);
    for (let frame: Frame | undefined = root; frame !== undefined; frame = this.#frames.at(-1)) {
      const next = frame.keys === undefined ? this.#readItems(frame) : this.#readEntries(frame, frame.keys);
      if (next instanceof Refusal) return next;
      if (this.#size < 0) return this.#tooLarge();
      if (next !== undefined) this.#frames.push(next);
      else {
        this.#frames.pop();
        this.#frames.at(-1)?.advance();
      }
    }
    return root.target;
  }

  /** Copies children until one is a container, which is to be read next, or a refusal, or the size is used up. */
  #readItems(frame: Frame): Frame | Refusal | undefined {
    const source = frame.source as readonly unknown[];
    const target = frame.target as ToolValue[];
    for (; frame.index < source.length && this.#size >= 0; frame.advance()) {
      const input = source[frame.index];
      if (input === undefined) return frame.index in source ? undefinedValue : hole;
      const child = this.#admit(input);
      if (child instanceof Refusal) return child;
      target.push(child instanceof Frame ? child.target : child);
      if (child instanceof Frame) return child;
    }
    return undefined;
  }

  #readEntries(frame: Frame, keys: readonly string[]): Frame | Refusal | undefined {
    const source = frame.source as Readonly<Record<string, unknown>>;
    const target = frame.target as { [key: string]: ToolValue };
    for (; frame.index < keys.length; frame.advance()) {
      const key = keys[frame.index] as string;
      this.#size -= key.length;
      if (!key.isWellFormed()) return illFormed;
      const input = source[key];
      if (input === undefined) continue; // A property that is undefined is an absent one, as everywhere in JavaScript.
      const child = this.#admit(input);
      if (child instanceof Refusal) return child;
      setKey(target, key, child instanceof Frame ? child.target : child);
      if (child instanceof Frame) return child;
    }
    return undefined;
  }

  #admit(input: unknown): Admitted {
    this.#size -= 1;
    switch (typeof input) {
      case "string":
        this.#size -= input.length;
        return input.isWellFormed() ? input : illFormed;
      case "number":
        return normalNumber(input);
      case "boolean":
        return input;
      case "bigint":
        return this.#bigint(input);
      case "object":
        return input === null ? null : this.#admitObject(input);
      case "undefined":
        return undefinedValue;
      default:
        return invalid(`a ${typeof input} is not a valid tool value`);
    }
  }

  #bigint(n: bigint): ToolValue | Refusal {
    if (n >= Number.MIN_SAFE_INTEGER && n <= Number.MAX_SAFE_INTEGER) return Number(n);
    const { digits: most, longDigits } = this.#limits;
    if (most === Infinity && longDigits === Infinity) return n;
    const digits = leastDigits(n);
    if (exceeds(n, digits, most)) return new Refusal("too_many_digits", `an integer may have ${most} digits`);
    if (digits > longInteger) this.#digits += digits;
    return this.#digits > longDigits ? new Refusal("too_many_digits", tooManyDigits(this.#limits)) : n;
  }

  #admitObject(source: object): Admitted {
    const refusal = this.#tooDeep(source);
    if (refusal !== undefined) return refusal;
    if (Array.isArray(source)) return new Frame(source, undefined, false);
    if (Attachment.is(source)) return this.#attachment(source);
    if (!isPlain(Object.getPrototypeOf(source))) return notPlain(source);
    const isTagged = this.#form === "encoded" && Object.hasOwn(source, tagKey);
    return isTagged ? this.#untag(source as Readonly<Record<string, unknown>>) : this.#object(source, false);
  }

  #attachment(source: Attachment): Attachment | Refusal {
    this.isJson = false;
    return this.#form === "value" ? source : notPlain(source);
  }

  #tooLarge(): Refusal {
    return new Refusal("too_large", `a value may have a size of ${this.#limits.size}`);
  }

  /** A value that contains itself gets deep; so it is enough to look for it now and then. */
  #tooDeep(source: object): Refusal | undefined {
    const depth = this.#frames.length;
    const isLimit = depth >= this.#limits.depth;
    const isTime = isLimit || (depth >= 256 && (depth & (depth - 1)) === 0);
    if (isTime && this.#frames.some((above) => above.source === source)) return cyclic;
    return isLimit ? new Refusal("too_deep", `a value may be ${this.#limits.depth} levels deep`) : undefined;
  }

  #object(source: object, wrapped: boolean): Frame | Refusal {
    const keys = sortedKeys(source);
    if (keys.length <= this.#limits.keys) return new Frame(source, keys, wrapped);
    return new Refusal("too_many_keys", `an object may have ${this.#limits.keys} keys, this one has ${keys.length}`);
  }

  /** An object under the reserved key, checked in the order of the specification. */
  #untag(source: Readonly<Record<string, unknown>>): Attachment | Frame | Refusal {
    const tag = source[tagKey];
    if (typeof tag !== "string") return malformed("reserved tool value tag must be a string");
    const has = (key: string): boolean => Object.keys(source).length === 2 && Object.hasOwn(source, key);
    if (tag === "attachment") {
      return has("ref") ? attached(source["ref"]) : malformed("malformed attachment tool value");
    }
    if (tag !== "object") return malformed(`unknown reserved tool value tag \`${tag}\``);
    return has("entries") ? this.#entries(source["entries"]) : malformed("malformed escaped object tool value");
  }

  #entries(entries: unknown): Frame | Refusal {
    const isMap = typeof entries === "object" && entries !== null && !Array.isArray(entries);
    return isMap
      ? this.#object(entries, true)
      : new Refusal("malformed_tag", typeMessage(entries, "a map"), ["entries"]);
  }

  /** Where the reader stands: at the child of the innermost container that it reads next. */
  #path(): Path {
    return this.#frames.flatMap(({ keys, index, wrapped }): Path => {
      const step = keys === undefined ? index : (keys[index] as string);
      return wrapped ? ["entries", step] : [step];
    });
  }
}

/** The normal form of a value from outside, or why it is none. Never throws. */
export const normalize = (input: unknown, form: Form, limits: Limits): E.Either<ValueError, ToolValue> =>
  new Reader(form, limits).run(input);

/** As `normalize` of what a program built, as JSON: `tagged` writes what holds attachments. */
export const normalizeToJson = (
  input: unknown,
  tagged: (value: ToolValue) => Json,
  limits: Limits,
): E.Either<ValueError, Json> => {
  const reader = new Reader("value", limits);
  const result = reader.run(input);
  if (E.isLeft(result)) return result;
  return E.right(reader.isJson ? (result.right as Json) : tagged(result.right));
};
