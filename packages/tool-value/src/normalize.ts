/**
 * The one gate through which a JavaScript value becomes a ToolValue. It returns a fresh copy in normal form
 * (normal-form.ts), or an error with the place of the fault. It never throws, whatever getters and proxies do.
 *
 * The reader walks the input depth first on a stack of its own frames, so that no depth of input overflows JavaScript's
 * stack. It counts size, depth, keys and digits on the way, and stops at the first limit that is passed.
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
import { normalNumber } from "./normal-form.ts";
import { read } from "./record.ts";

/** The input: plain JSON, JSON with the tags of encoded values, or a JavaScript value with attachments. */
export type Form = "json" | "encoded" | "value";

type Container = { [key: string]: ToolValue } | ToolValue[];

/** A container that is being copied: its source, its target, and the position. */
class Frame {
  readonly source: object;
  /** The keys of an object; undefined for an array. */
  readonly keys: readonly string[] | undefined;
  readonly target: Container;
  /** True if the source is the `entries` of an escaped object. */
  readonly wrapped: boolean;
  /** The current child. While a frame lies above this one, the child that the frame copies. */
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
    this.message = message.toWellFormed(); // The message may quote the input.
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

/** A scalar or attachment as it is, a frame for a container that is to be copied, or a refusal. */
type Admitted = ToolValue | Frame | Refusal;

class Reader {
  readonly #form: Form;
  readonly #limits: Limits;
  readonly #frames: Frame[] = [];
  #size: number;
  /** The digits of all long integers so far: a lower bound. */
  #digits = 0;
  /** False once an attachment was read. */
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

  /** Copies children up to the first container, which is read next, or up to a refusal, or until the size is used up. */
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
      if (input === undefined) continue; // As everywhere in JavaScript, an undefined property counts as absent.
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
        return normalNumber(input) ?? nonFinite;
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

  /** Looks for cycles only at the limit and at powers of two from 256 on: a value that contains itself gets deep. */
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

  /** Reads an object with the reserved key; the order of the checks is the specification's. */
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

  /** Returns the path of the current child of the innermost frame. */
  #path(): Path {
    return this.#frames.flatMap(({ keys, index, wrapped }): Path => {
      const step = keys === undefined ? index : (keys[index] as string);
      return wrapped ? ["entries", step] : [step];
    });
  }
}

/** Returns the normal form of a value from outside, or the reason why it is refused. Never throws. */
export const normalize = (input: unknown, form: Form, limits: Limits): E.Either<ValueError, ToolValue> =>
  new Reader(form, limits).run(input);

/** Normalizes a value that a program built, into JSON. `tagged` converts a value that contains attachments. */
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
