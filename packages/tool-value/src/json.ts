/** JSON as pawl knows it: numbers are exact, integers beyond the safe range are bigints. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A place inside a value: object keys and array indices from the root. */
export type Path = readonly (string | number)[];

export type ValueErrorCode =
  | "invalid_json"
  | "invalid_value"
  | "invalid_record"
  | "malformed_tag"
  | "too_deep"
  | "too_large"
  | "too_many_keys"
  | "too_many_digits";

/** Why something from outside is no value: where, and what was wanted. */
export interface ValueError {
  readonly code: ValueErrorCode;
  readonly path: Path;
  readonly message: string;
}

/** Text that no encoding of Unicode can carry is no text: what the log keeps has to be read back. */
export const loneSurrogate = "a string must not hold a lone surrogate";

const plainKey = /^[A-Za-z_$][\w$]*$/;

const shownSteps = 12;

/** A path as a person reads it: `$.calls[0]["a b"]`. Of a long one the beginning is shown. */
export const formatPath = (path: Path): string => {
  const steps = path.slice(0, shownSteps).map((step) => {
    const isName = typeof step === "string" && plainKey.test(step);
    return isName ? `.${step}` : `[${JSON.stringify(step)}]`;
  });
  const more = path.length > shownSteps ? ` and ${path.length - shownSteps} levels more` : "";
  return `$${steps.join("")}${more}`;
};

/** An error in one line: what was wanted, then where. */
export const describe = (error: ValueError): string =>
  error.path.length === 0 ? error.message : `${error.message} at ${formatPath(error.path)}`;

/** Sets a key as JSON.parse does: `__proto__` is an ordinary key. */
export const setKey = <A>(target: { [key: string]: A }, key: string, value: A): void => {
  if (key !== "__proto__") {
    // oxlint-disable-next-line no-param-reassign -- a builder of fresh objects
    target[key] = value;
    return;
  }
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
};

/** Whether one key stands before another in code unit order; the first units mostly tell, unless a key has none. */
export const isBefore = (a: string, b: string): boolean => {
  const x = a.charCodeAt(0);
  const y = b.charCodeAt(0);
  return x < y || (!(x > y) && a < b);
};

const fewKeys = 24;

/** The own keys in UTF-16 code unit order. Most objects have few keys, and those in order. */
export const sortedKeys = (object: object): readonly string[] => {
  const keys = Object.keys(object);
  if (keys.length > fewKeys) return keys.toSorted();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string;
    let hole = i;
    for (; hole > 0 && isBefore(key, keys[hole - 1] as string); hole--) keys[hole] = keys[hole - 1] as string;
    if (hole !== i) keys[hole] = key;
  }
  return keys;
};
