/** JSON with exact integers, the errors that name a place in it, and the order of keys. */

/** Integers beyond the safe range are bigints. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Tells a map from lists and scalars. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A place inside a value: the object keys and array indices from the root down. */
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

/** The reason why input was refused, and the place of the fault. */
export interface ValueError {
  readonly code: ValueErrorCode;
  readonly path: Path;
  readonly message: string;
}

/** UTF-8 cannot carry a lone surrogate, so the log could not give such a string back. */
export const loneSurrogate = "a string must not hold a lone surrogate";

const plainKey = /^[A-Za-z_$][\w$]*$/;

const shownSteps = 12;

/** Formats a path for people: `$.calls[0]["a b"]`. A long path is cut after its first steps. */
export const formatPath = (path: Path): string => {
  const steps = path.slice(0, shownSteps).map((step) => {
    const isName = typeof step === "string" && plainKey.test(step);
    return isName ? `.${step}` : `[${JSON.stringify(step)}]`;
  });
  const more = path.length > shownSteps ? ` and ${path.length - shownSteps} levels more` : "";
  return `$${steps.join("")}${more}`;
};

/** Formats an error in one line: the message, then the place. */
export const describe = (error: Pick<ValueError, "path" | "message">): string =>
  error.path.length === 0 ? error.message : `${error.message} at ${formatPath(error.path)}`;

/** Sets a key as JSON.parse does, so that `__proto__` is an ordinary key. */
export const setKey = <A>(target: { [key: string]: A }, key: string, value: A): void => {
  if (key !== "__proto__") {
    // oxlint-disable-next-line no-param-reassign -- builds a fresh object
    target[key] = value;
    return;
  }
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
};

/** Tells whether `a` comes before `b` in UTF-16 code unit order. Compares the first units before whole strings. */
export const isBefore = (a: string, b: string): boolean => {
  const x = a.charCodeAt(0);
  const y = b.charCodeAt(0);
  return x < y || (!(x > y) && a < b);
};

const fewKeys = 24;

/** Returns the own keys in UTF-16 code unit order. Few keys, mostly in order already, are sorted by insertion. */
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
