/**
 * A calculator over floats: a recursive-descent parser, so that no input is ever run as code.
 *
 *   expr  = term (("+" | "-") term)*          term = power (("*" | "/" | "%") power)*
 *   power = unary ["**" power]                unary = ("-" | "+") unary | atom
 *   atom  = "(" expr ")" | number | constant | name "(" [expr ("," expr)*] ")"
 */
import { decimalText } from "@pawl/sansio-core/driver";
import { constants, functionOf } from "./calculator-function.ts";
import { pow } from "./elementary.ts";
import { type Answer, failed, succeeded } from "../tool/result.ts";

class Refused extends Error {}

const refuse = (message: string): never => {
  throw new Refused(message);
};

/** The most parentheses inside each other. */
const maxDepth = 256;

const space = /[\t\n\f\r ]*/y;
const number = /[0-9.]+(?:[eE][+-]?[0-9]*)?/y;
const name = /[A-Za-z][A-Za-z0-9_]*/y;
const float = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): number {
    const value = this.#expr();
    this.#skip();
    if (this.#at < this.#text.length) refuse(`Unexpected trailing characters at position ${this.#position()}`);
    return Number.isNaN(value) ? refuse("Result is NaN") : value;
  }

  #position(): number {
    return byteLength(this.#text.slice(0, this.#at));
  }

  #token(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [token] = pattern.exec(this.#text) ?? [];
    this.#at += token?.length ?? 0;
    return token;
  }

  #skip(): void {
    this.#token(space);
  }

  /** Consumes one of these signs. `**` is one sign, not two. */
  #sign(...signs: readonly string[]): string | undefined {
    this.#skip();
    const found = this.#text.startsWith("**", this.#at) ? "**" : this.#text[this.#at];
    if (found === undefined || !signs.includes(found)) return undefined;
    this.#at += found.length;
    return found;
  }

  #expr(): number {
    let value = this.#term();
    for (let sign = this.#sign("+", "-"); sign !== undefined; sign = this.#sign("+", "-")) {
      const right = this.#term();
      value = sign === "+" ? value + right : value - right;
    }
    return value;
  }

  #term(): number {
    let value = this.#power();
    for (let sign = this.#sign("*", "/", "%"); sign !== undefined; sign = this.#sign("*", "/", "%")) {
      const right = this.#power();
      if (sign === "*") value *= right;
      else if (right === 0) refuse(sign === "/" ? "Division by zero" : "Modulo by zero");
      else value = sign === "/" ? value / right : value % right;
    }
    return value;
  }

  /** Binds from the right: bases wait in a list until the last exponent is known. */
  #power(): number {
    const values = [this.#unary()];
    while (this.#sign("**") !== undefined) values.push(this.#unary());
    return values.reduceRight((exponent, base) => pow(base, exponent));
  }

  #unary(): number {
    let factor = 1;
    for (let sign = this.#sign("-", "+"); sign !== undefined; sign = this.#sign("-", "+")) {
      if (sign === "-") factor = -factor;
    }
    const value = this.#atom();
    return factor === 1 ? value : -value;
  }

  #atom(): number {
    if (this.#sign("(") !== undefined) return this.#nested();
    const start = this.#at;
    const digits = this.#token(number);
    if (digits !== undefined) return float.test(digits) ? Number(digits) : refuse(`Invalid number: '${digits}'`);
    const word = this.#token(name);
    if (word === undefined) {
      this.#at = start;
      return refuse(`Unexpected character at position ${this.#position()}`);
    }
    const constant = constants.get(word);
    if (constant !== undefined) return constant;
    return this.#sign("(") === undefined ? refuse(`Unknown identifier: '${word}'`) : this.#call(word);
  }

  #deeper<A>(inside: () => A): A {
    this.#depth += 1;
    if (this.#depth > maxDepth) refuse(`Nested deeper than ${maxDepth}`);
    const value = inside();
    this.#depth -= 1;
    return value;
  }

  #nested(): number {
    const value = this.#deeper(() => this.#expr());
    return this.#sign(")") === undefined ? refuse("Missing closing parenthesis") : value;
  }

  #call(word: string): number {
    const args = this.#sign(")") === undefined ? this.#arguments(word) : [];
    const compute = functionOf(word, args.length);
    return compute === undefined ? refuse(`Unknown function: '${word}' with ${args.length} args`) : compute(...args);
  }

  #arguments(word: string): readonly number[] {
    const args: number[] = [];
    do args.push(this.#deeper(() => this.#expr()));
    while (this.#sign(",") !== undefined);
    return this.#sign(")") === undefined ? refuse(`Missing ')' after ${word}(...)`) : args;
  }
}

/** Evaluates an expression to decimal digits, or returns the reason why it has no value. */
export const calculate = (expression: string): Answer => {
  const text = expression.trim();
  if (text === "") return failed("Empty expression");
  try {
    return succeeded(decimalText(new Parser(text).run()));
  } catch (thrown) {
    if (thrown instanceof Refused) return failed(`Calculator error: ${thrown.message}`);
    throw thrown;
  }
};
