/** Generates values, near values and anything else, for the laws. */
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import {
  type AttachmentRef,
  type Json,
  type Limits,
  type ToolValue,
  type ValueError,
  attachment,
  decode,
  describe,
  fromJs,
  isAttachment,
  lift,
  tagKey,
} from "../src/index.ts";
import { referenceJson } from "./reference.ts";

export const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("", '"', "\\", "\u007f\u2028\u2029", "\u0000\n\u001f", "😀", "x".repeat(80), "\n".repeat(70)),
);

const ordinaryKeys = ["", "0", "9", "10", "4294967295", "a", "b", "ref", "entries", "😀", "～", "toJSON", "length"];
const oddKeys = [...ordinaryKeys, "__proto__", "constructor", "hasOwnProperty", tagKey];
const keyOf = (odd: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...odd) }, { weight: 2, arbitrary: text });

const float = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 2 ** 53, -(2 ** 53), 1e15, 1e16, 1e20, 1e21, -1e21, 5e-324, Number.MAX_VALUE),
);
const edge = [0n, 5n, 2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n) - 1n, 10n ** 16n, 10n ** 20n, 10n ** 21n, -(10n ** 40n)];
const bigint = fc.oneof(fc.constantFrom(...edge), fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }));
const plainLeaf = fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), float, text);
const leaf = fc.oneof({ weight: 4, arbitrary: plainLeaf }, { weight: 1, arbitrary: bigint });

export const u64 = fc.maxSafeNat();
export const u32 = fc.nat(0xffff_ffff);
export const mediaType = fc.oneof(
  fc.record({ kind: fc.constant("image" as const), type: fc.constantFrom("png", "jpeg", "gif", "webp", "bmp") }),
  fc.record({ kind: fc.constant("file" as const), type: text }),
);
export const attachmentRef: fc.Arbitrary<AttachmentRef> = fc.record(
  { id: text, media_type: mediaType, byte_len: u64, width: u32, height: u32, label: text },
  { requiredKeys: ["id", "media_type", "byte_len"] },
);

const objectOf = (key: fc.Arbitrary<string>, child: fc.Arbitrary<unknown>): fc.Arbitrary<object> =>
  fc.array(fc.tuple(key, child), { maxLength: 5 }).map((entries) => Object.fromEntries(entries) as object);

/** Generates trees over some leaves, a few of them nested deeply. */
const tree = (
  leaves: fc.Arbitrary<unknown>,
  object: (child: fc.Arbitrary<unknown>) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> => {
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: "small" },
      { weight: 3, arbitrary: leaves },
      { weight: 2, arbitrary: fc.array(tie("node"), { maxLength: 5 }) },
      { weight: 2, arbitrary: object(tie("node")) },
    ),
  }));
  const deep = fc
    .tuple(node, fc.nat(200), fc.constantFrom("", "key", "0"))
    .map(([inner, depth, key]) =>
      Array.from({ length: depth }).reduce((below) => (key === "" ? [below] : { [key]: below }), inner),
    );
  return fc.oneof({ weight: 20, arbitrary: node }, { weight: 1, arbitrary: deep });
};

const valueObject = (child: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => objectOf(keyOf(oddKeys), child);
const withAttachments = fc.oneof(
  { weight: 4, arbitrary: leaf },
  { weight: 1, arbitrary: attachmentRef.map(attachment) },
);

/** JSON as `parse` returns it, not in normal form. */
export const json = tree(leaf, valueObject) as fc.Arbitrary<Json>;
/** A value as a caller builds it, not in normal form. */
export const built = tree(withAttachments, valueObject) as fc.Arbitrary<ToolValue>;

const wrapped = (child: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    objectOf(keyOf([...ordinaryKeys, "__proto__"]), child),
    valueObject(child).map((entries) => ({ entries, [tagKey]: "object" })),
  );
const encodedAttachment = attachmentRef.map((ref) => ({ ref: { ...ref, unknown: 1 }, [tagKey]: "attachment" }));
/** Encoded values as no encoder writes them: needless wrappers, unknown fields, keys in any order. */
const encoded = tree(fc.oneof({ weight: 4, arbitrary: leaf }, { weight: 1, arbitrary: encodedAttachment }), wrapped);

const admitted = (result: E.Either<ValueError, ToolValue>): ToolValue => {
  if (E.isLeft(result)) throw new Error(describe(result.left));
  return result.right;
};

/** Values from every gate. */
export const value: fc.Arbitrary<ToolValue> = fc.oneof(
  built.map((input) => admitted(fromJs(input))),
  encoded.map((input) => admitted(decode(input))),
  json.map(lift),
);
/** JSON in normal form. */
export const normalJson: fc.Arbitrary<Json> = json.map((input) => lift(input) as Json);

const numeric = (node: number | bigint): ToolValue => {
  if (typeof node === "bigint") return Number(node);
  return Number.isInteger(node) ? BigInt(node) : node + 1;
};

/** Returns another node with the same text, or nearly the same. */
const twisted = (node: ToolValue): ToolValue => {
  if (typeof node === "number" || typeof node === "bigint") return numeric(node);
  if (typeof node === "string") return `${node} `;
  if (typeof node === "boolean" || node === null) return `${node}`;
  if (isAttachment(node)) return referenceJson(node) as ToolValue;
  return Array.isArray(node) ? { ...node } : { ...node, extra: null };
};

/** Copies a value, with the keys in reverse order and its `target`th node twisted. */
const copy = (root: ToolValue, target: number): ToolValue => {
  let seen = 0;
  const walk = (node: ToolValue): ToolValue => {
    if (seen++ === target) return twisted(node);
    if (typeof node !== "object" || node === null || isAttachment(node)) return node;
    if (Array.isArray(node)) return node.map(walk);
    const entries = Object.entries(node).map(([key, child]) => [key, walk(child as ToolValue)] as const);
    return Object.fromEntries(entries.toReversed());
  };
  return walk(root);
};

/** Two values, equal about half the time and nearly equal the other half. */
export const pair: fc.Arbitrary<readonly [ToolValue, ToolValue]> = fc
  .tuple(built, fc.nat(12))
  .map(([one, target]) => [one, copy(one, target)] as const);

const plainJson = tree(plainLeaf, valueObject);
const pieces = ["", '"', "\\", "\\u12", ",", ":", "{", "}", "[", "]", "0", "-", ".", "e", "1e5", " ", "\t", "\u0000"];
/** JSON texts, most of them damaged in one place. */
export const jsonText: fc.Arbitrary<string> = fc
  .tuple(plainJson, fc.nat(2), fc.nat(60), fc.nat(2), fc.constantFrom(...pieces, ...oddKeys, "tru", "null", "é"))
  .map(([tree_, indent, at, cut, piece]) => {
    const whole = JSON.stringify(tree_, undefined, indent);
    return whole.slice(0, at) + piece + whole.slice(at + cut);
  });
export const anyText: fc.Arbitrary<string> = fc.oneof(
  jsonText,
  fc.array(fc.nat(0xffff), { maxLength: 8 }).map((units) => `"${String.fromCharCode(...units)}"`),
  fc.string({ unit: "binary" }),
);

const explode = (): never => {
  throw new Error("hostile");
};
const traps = ["get", "has", "ownKeys", "getPrototypeOf", "getOwnPropertyDescriptor"] as const;
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const cyclic = (): object => {
  const list: unknown[] = [];
  list.push({ list });
  return list;
};
const endless = (): unknown => new Proxy([], { get: (_, key) => (key === "length" ? Infinity : 1) });
const hostiles: readonly (() => unknown)[] = [
  ...traps.map((trap) => () => new Proxy({ a: 1 }, { [trap]: explode })),
  ...traps.map((trap) => () => new Proxy([1], { [trap]: explode })),
  revoked,
  cyclic,
  () => Object.defineProperty({}, "a", { enumerable: true, get: explode }),
  () => ({ toJSON: explode, toString: explode, valueOf: explode }),
  () => Object.create({ constructor: null }) as object,
  () => ({ [tagKey]: "\ud800" }),
  () => ({ "\ud800": 1 }),
  () => Symbol("s"),
  () => explode,
];
/** Plants the hostile objects on demand only, since fast-check inspects everything it generates. */
const plant = (node: unknown): unknown => {
  if (typeof node === "function") return (node as () => unknown)();
  if (Array.isArray(node)) return node.map(plant);
  if (typeof node !== "object" || node === null || isAttachment(node)) return node;
  return Object.fromEntries(Object.entries(node).map(([key, child]) => [key, plant(child)]));
};

const anythingWith = (leaves: readonly (() => unknown)[]): fc.Arbitrary<() => unknown> =>
  fc.oneof(
    fc
      .anything({
        key: keyOf(oddKeys),
        withBigInt: true,
        withBoxedValues: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withObjectString: true,
        withSet: true,
        withSparseArray: true,
        withTypedArray: true,
        stringUnit: "binary",
      })
      .map((node) => () => node),
    tree(
      fc.oneof({ weight: 3, arbitrary: withAttachments }, { weight: 1, arbitrary: fc.constantFrom(...leaves) }),
      valueObject,
    ).map((node) => () => plant(node)),
  );
/** Generates anything but endless objects, each made on demand. */
export const finite = anythingWith(hostiles);
/** Generates anything at all. */
export const anything = anythingWith([...hostiles, endless]);

export const limits: fc.Arbitrary<Limits> = fc.record({
  depth: fc.nat(20),
  size: fc.nat(2000),
  keys: fc.nat(5),
  digits: fc.nat(30),
  longDigits: fc.nat(30),
});
