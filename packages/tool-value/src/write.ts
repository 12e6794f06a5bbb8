/**
 * Values to text: canonical JSON (RFC 8785, but integers are exact at any size), records in the order of their fields, and
 * the text around attachments that a model reads.
 *
 * Most values are short and already in canonical order, so the engine's JSON.stringify writes them. One writer of our own,
 * on a stack of its own, writes the rest: bigints, attachments, escaped objects, unsorted keys, deep nesting.
 */
import { Attachment, AttachmentRef } from "./attachment.ts";
import { type Json, type JsonObject, isBefore, sortedKeys } from "./json.ts";
import { type ToolValue, tagKey } from "./model.ts";

/** The points in which the formats differ. */
interface Style {
  readonly keys: (object: object) => readonly string[];
  /** Escapes objects with the reserved key. */
  readonly escape: boolean;
  /** Returns the text so far with the attachment in it. */
  readonly attachment: (attachment: Attachment, text: string) => string;
}

interface Frame {
  readonly source: Readonly<Record<string | number, ToolValue>>;
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  readonly close: string;
  index: number;
}

// oxlint-disable-next-line no-control-regex -- JSON has to escape control characters
const escapes = /["\\\u0000-\u001f\ud800-\udfff]/;
const longString = 64;

/** Quotes a string. The engine's own escaping is canonical; most strings are short and need none. */
export const quote = (s: string): string => (s.length < longString && !escapes.test(s) ? `"${s}"` : JSON.stringify(s));

const notAValue = (u: unknown): never => {
  throw new TypeError(`${String(u)} is not a value: pass input from outside through decode or fromJs first`);
};

const scalar = (value: ToolValue): string | undefined => {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
      return Number.isFinite(value) ? `${value}` : notAValue(value);
    case "bigint":
    case "boolean":
      return `${value}`;
    case "object":
      return value === null ? "null" : undefined;
    default:
      return notAValue(value);
  }
};

const frameOf = (value: object, style: Style): Frame & { readonly open: string } => {
  const source = value as Frame["source"];
  if (Array.isArray(value)) return { source, keys: undefined, length: value.length, open: "[", close: "]", index: 0 };
  const keys = style.keys(value);
  const escaped = style.escape && Object.hasOwn(value, tagKey);
  const open = escaped ? `{"${tagKey}":"object","entries":{` : "{";
  return { source, keys, length: keys.length, open, close: escaped ? "}}" : "}", index: 0 };
};

const write = (root: ToolValue, style: Style): string => {
  const frames: Frame[] = [];
  let text = "";
  const add = (value: ToolValue): void => {
    const plain = scalar(value);
    if (plain !== undefined) text += plain;
    else if (Attachment.is(value)) text = style.attachment(value, text);
    else {
      const frame = frameOf(value as object, style);
      text += frame.open;
      frames.push(frame);
    }
  };
  add(root);
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (frame.index === frame.length) {
      text += frame.close;
      frames.pop();
      continue;
    }
    if (frame.index > 0) text += ",";
    const key = frame.keys === undefined ? frame.index : (frame.keys[frame.index] as string);
    if (typeof key === "string") text += `${quote(key)}:`;
    frame.index += 1;
    add(frame.source[key] as ToolValue);
  }
  return text;
};

const unreachable = (): never => {
  throw new TypeError("JSON contains no attachments: encode the value first");
};

/** Keys that JavaScript treats as indices and moves to the front. */
const isIndex = /^(?:0|[1-9]\d*)$/;

/**
 * Returns the keys in the order they have: that of a record's codec, or of a value in normal form. An object with index
 * keys, which JavaScript keeps in numeric order, is a value, and its keys are sorted.
 */
export const givenKeys = (object: object): readonly string[] => {
  const keys = Object.keys(object);
  return isIndex.test(keys[0] ?? "") ? sortedKeys(object) : keys;
};

/** Bounds the depth of what the engine writes, since it recurses on JavaScript's stack. */
const nativeDepth = 512;

/** Tells whether the engine would write `key` in the right place after `last`. */
type Follows = (last: string, key: string) => boolean;

const inOrder: Follows = (last, key) => (last === "" || isBefore(last, key)) && key !== tagKey;
const asGiven: Follows = (last, key) => last !== "" || !isIndex.test(key);

const isNativeItem = (item: unknown, follows: Follows, depth = nativeDepth): boolean => {
  switch (typeof item) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(item);
    default:
      return item === null || (typeof item === "object" && depth > 0 && isNative(item, follows, depth - 1));
  }
};

/** Tells whether the engine writes a container as our writer would. */
const isNative = (container: object, follows: Follows, depth: number): boolean => {
  if (Array.isArray(container)) {
    for (let i = 0; i < container.length; i++) if (!isNativeItem(container[i], follows, depth)) return false;
    return true;
  }
  if (Attachment.is(container)) return false;
  let last = "";
  // oxlint-disable-next-line guard-for-in -- an inherited key only sends the value to the writer
  for (const key in container) {
    if (!follows(last, key) || !isNativeItem((container as JsonObject)[key], follows, depth)) return false;
    last = key;
  }
  return true;
};

/** Writes with the engine if it can, else with the writer. */
const writeNative = (value: ToolValue, follows: Follows, style: Style): string =>
  isNativeItem(value, follows) ? JSON.stringify(value) : write(value, style);

const jsonStyle: Style = { keys: sortedKeys, escape: false, attachment: unreachable };

/** Returns the canonical text of JSON. */
export const stringify = (json: Json): string => writeNative(json, inOrder, jsonStyle);

const recordStyle: Style = { keys: givenKeys, escape: false, attachment: unreachable };

/** Returns the text of an encoded record, with its fields in the order of its codec. */
export const stringifyRecord = (encoded: unknown): string => writeNative(encoded as Json, asGiven, recordStyle);

const encodedStyle: Style = {
  keys: sortedKeys,
  escape: true,
  attachment: (a, text) => `${text}{"${tagKey}":"attachment","ref":${stringify(AttachmentRef.encode(a.ref) as Json)}}`,
};

/** Returns the canonical text of a value's encoded form, in one pass. */
export const canonicalJson = (value: ToolValue): string => writeNative(value, inOrder, encodedStyle);

/** Writes compact text, cut at each attachment. Calls `onText` and `onAttachment` in the order of the value. */
export const writeAround = (
  value: ToolValue,
  onText: (text: string) => void,
  onAttachment: (attachment: Attachment) => void,
): void => {
  const cut = (attachment: Attachment, text: string): string => {
    onText(text);
    onAttachment(attachment);
    return "";
  };
  onText(write(value, { keys: sortedKeys, escape: false, attachment: cut }));
};
