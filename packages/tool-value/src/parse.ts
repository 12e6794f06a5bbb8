/**
 * JSON text to Json, with exact integers of any size.
 *
 * The engine's own JSON.parse is used where it is exact and the text is within limits (parse-native.ts). Everything else,
 * invalid text included, goes to the parser below, which reports the line, the column and the path of an error.
 */
import * as E from "fp-ts/lib/Either.js";
import { type Json, type Path, type ValueError, type ValueErrorCode, loneSurrogate, setKey } from "./json.ts";
import { type Limits, defaultLimits, longInteger, noLimits, tooManyDigits } from "./limits.ts";
import { parseExactly, parseNatively } from "./parse-native.ts";

/** Reads JSON text (RFC 8259). The last one of repeated keys counts. Never throws. */
export const parse = (text: string, limits: Limits = defaultLimits): E.Either<ValueError, Json> => {
  if (typeof text !== "string") return E.left({ code: "invalid_json", path: [], message: "expected a text" });
  if (text.length > limits.size) {
    const message = `a text may have a size of ${limits.size}, this one has ${text.length}`;
    return E.left({ code: "too_large", path: [], message });
  }
  const value = parseNatively(text, limits);
  return value === undefined ? new Parser(text, limits).run() : E.right(value);
};

/**
 * Reads the text of a record that a codec decodes next, without limits. A number out of range may come out as infinity,
 * which every codec refuses; this saves a second walk over the result.
 */
export const parseRecord = (text: string): E.Either<ValueError, Json> => {
  const value = parseExactly(text);
  return value === undefined ? new Parser(text, noLimits).run() : E.right(value);
};

/** A container that is being read, on the parser's own stack. */
class Frame {
  readonly target: Json[] | { [key: string]: Json };
  /** The key whose value comes next, in an object. */
  key: string | undefined;
  /** The number of distinct keys, in an object. */
  keys = 0;
  count = 0;

  constructor(target: Frame["target"]) {
    this.target = target;
  }

  put(value: Json): void {
    if (Array.isArray(this.target)) this.target.push(value);
    else setKey(this.target, this.key as string, value);
    this.key = undefined;
    this.count += 1;
  }

  expect(key: string): void {
    if (!Object.hasOwn(this.target, key)) this.keys += 1;
    this.key = key;
  }
}

class Failure {
  readonly code: ValueErrorCode;
  readonly message: string;
  constructor(code: ValueErrorCode, message: string) {
    this.code = code;
    this.message = message;
  }
}

const tooLong = (message: string): Failure => new Failure("too_many_digits", message);

const bigintOf = (literal: string, digits: number): bigint | Failure => {
  try {
    return BigInt(literal);
  } catch {
    return tooLong(`this engine cannot hold an integer of ${digits} digits`);
  }
};

const isFailure = (u: unknown): u is Failure => u instanceof Failure;
const number = /-?(?:0|[1-9]\d*)(?<fraction>\.\d+)?(?<exponent>[eE][+-]?\d+)?/y;
const words: readonly (readonly [string, Json])[] = [
  ["null", null],
  ["true", true],
  ["false", false],
];

class Parser {
  readonly #text: string;
  readonly #limits: Limits;
  readonly #frames: Frame[] = [];
  #at = 0;
  /** The digits of all long integers so far. */
  #digits = 0;

  constructor(text: string, limits: Limits) {
    this.#text = text;
    this.#limits = limits;
  }

  run(): E.Either<ValueError, Json> {
    const value = this.#value();
    if (!isFailure(value)) this.#skipSpace();
    const result = isFailure(value) || this.#at === this.#text.length ? value : this.#expected("the end of the text");
    if (!isFailure(result)) return E.right(result);
    return E.left({ code: result.code, path: this.#path(), message: result.message });
  }

  /** Reads a value with everything in it. Containers are opened and closed on a stack, so that depth is no problem. */
  #value(): Json | Failure {
    let value = this.#open();
    while (!isFailure(value) && this.#frames.length > 0) {
      const frame = this.#frames.at(-1) as Frame;
      if (value !== undefined) frame.put(value);
      value = this.#next(frame);
    }
    return value as Json | Failure;
  }

  /** Reads the next child of a container. Returns the container itself at its end, undefined if the child is a container. */
  #next(frame: Frame): Json | undefined | Failure {
    const isArray = Array.isArray(frame.target);
    this.#skipSpace();
    if (this.#take(isArray ? "]" : "}")) {
      this.#frames.pop();
      return frame.target;
    }
    if (frame.count > 0) {
      if (!this.#take(",")) return this.#expected(isArray ? "`,` or `]`" : "`,` or `}`");
      this.#skipSpace();
    }
    const failure = isArray ? undefined : this.#key(frame);
    return failure ?? this.#open();
  }

  #key(frame: Frame): Failure | undefined {
    if (this.#text[this.#at] !== '"') return this.#expected("a key in quotes");
    const key = this.#string();
    if (isFailure(key)) return key;
    frame.expect(key);
    this.#skipSpace();
    if (!this.#take(":")) return this.#expected("`:`");
    if (frame.keys > this.#limits.keys) {
      return new Failure("too_many_keys", `an object may have ${this.#limits.keys} keys`);
    }
    return undefined;
  }

  /** A scalar, or undefined where a container begins, which is then the innermost frame. */
  #open(): Json | undefined | Failure {
    this.#skipSpace();
    const c = this.#text[this.#at];
    if (c === "[" || c === "{") return this.#openContainer(c === "[" ? [] : {});
    if (c === '"') return this.#string();
    const word = words.find(([name]) => this.#text.startsWith(name, this.#at));
    if (word === undefined) return this.#number();
    this.#at += word[0].length;
    return word[1];
  }

  #openContainer(target: Frame["target"]): Failure | undefined {
    if (this.#frames.length >= this.#limits.depth) {
      return new Failure("too_deep", `a value may be ${this.#limits.depth} levels deep`);
    }
    this.#at += 1;
    this.#frames.push(new Frame(target));
    return undefined;
  }

  #number(): Json | Failure {
    number.lastIndex = this.#at;
    const match = number.exec(this.#text);
    if (match === null) return this.#expected("a value");
    const [literal] = match;
    this.#at += literal.length;
    const isInteger = match.groups?.["fraction"] === undefined && match.groups?.["exponent"] === undefined;
    return isInteger ? this.#integer(literal) : this.#float(literal);
  }

  #integer(literal: string): Json | Failure {
    const exact = Number(literal);
    if (Number.isSafeInteger(exact)) return exact;
    const digits = literal.startsWith("-") ? literal.length - 1 : literal.length;
    if (digits > longInteger) this.#digits += digits;
    const most = this.#limits.digits;
    if (digits > most) return tooLong(`an integer may have ${most} digits, this one has ${digits}`);
    return this.#digits > this.#limits.longDigits ? tooLong(tooManyDigits(this.#limits)) : bigintOf(literal, digits);
  }

  #float(literal: string): Json | Failure {
    const float = Number(literal);
    if (Number.isFinite(float)) return float;
    return new Failure("invalid_value", `the number ${literal.slice(0, 40)} is out of range`);
  }

  #string(): string | Failure {
    const end = this.#endOfString();
    if (isFailure(end)) return end;
    const literal = this.#text.slice(this.#at, end);
    const string = literal.includes("\\") ? this.#unescape(literal) : literal.slice(1, -1);
    if (isFailure(string)) return string;
    if (!string.isWellFormed()) return new Failure("invalid_value", loneSurrogate);
    this.#at = end;
    return string;
  }

  #endOfString(): number | Failure {
    for (let i = this.#at + 1; i < this.#text.length; i++) {
      const c = this.#text.charCodeAt(i);
      if (c === 0x22) return i + 1;
      if (c === 0x5c) i += 1;
      else if (c < 0x20) return this.#expected("a control character to be escaped", i);
    }
    return this.#expected("the end of a string", this.#text.length);
  }

  #unescape(literal: string): string | Failure {
    try {
      return JSON.parse(literal) as string;
    } catch {
      return this.#expected("a string with valid escapes");
    }
  }

  #skipSpace(): void {
    for (;;) {
      const c = this.#text.charCodeAt(this.#at);
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return;
      this.#at += 1;
    }
  }

  #take(c: string): boolean {
    if (this.#text[this.#at] !== c) return false;
    this.#at += 1;
    return true;
  }

  #expected(wanted: string, at = this.#at): Failure {
    const code = this.#text.codePointAt(at);
    const found = code === undefined ? "the end of the text" : JSON.stringify(String.fromCodePoint(code));
    const before = this.#text.slice(0, at);
    const line = before.split("\n").length;
    const column = at - before.lastIndexOf("\n");
    return new Failure("invalid_json", `expected ${wanted}, found ${found} in line ${line}, column ${column}`);
  }

  #path(): Path {
    return this.#frames.flatMap((frame): Path => {
      if (Array.isArray(frame.target)) return [frame.count];
      return frame.key === undefined ? [] : [frame.key];
    });
  }
}
