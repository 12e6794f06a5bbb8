/** Values to text. One writer, on a stack of its own, serves canonical JSON, wire records and what a model reads. */
import { Attachment, AttachmentRef } from "./attachment.ts";
import { type Json, type JsonObject, isBefore, sortedKeys } from "./json.ts";
import { type ToolValue, tagKey } from "./model.ts";

/** Where the text goes, and what is not said alike everywhere. */
interface Style {
  readonly keys: (object: object) => readonly string[];
  /** Objects with the reserved key are wrapped, so that they are not taken for what they are not. */
  readonly escape: boolean;
  readonly attachment: (attachment: Attachment, text: string) => string;
}

interface Frame {
  readonly source: Readonly<Record<string | number, ToolValue>>;
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  readonly close: string;
  index: number;
}

// oxlint-disable-next-line no-control-regex -- control characters are what JSON has to escape
const escapes = /["\\\u0000-\u001f\ud800-\udfff]/;
const longString = 64;

/** The engine's own escaping is canonical; most strings are short and need none. */
export const quote = (s: string): string => (s.length < longString && !escapes.test(s) ? `"${s}"` : JSON.stringify(s));

const notAValue = (u: unknown): never => {
  throw new TypeError(`${String(u)} is no value: what comes from outside goes through decode or fromJs first`);
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
  throw new TypeError("JSON holds no attachments: encode the value first");
};

/** Keys that JavaScript takes for indices and moves to the front. */
const isIndex = /^(?:0|[1-9]\d*)$/;

/**
 * A record's fields keep the order of their codec, and a value's keys stand sorted already; but for index keys, which
 * no record has and which JavaScript would put in numeric order.
 */
const givenKeys = (object: object): readonly string[] => {
  const keys = Object.keys(object);
  return isIndex.test(keys[0] ?? "") ? sortedKeys(object) : keys;
};

/** How deep a value is looked at for the engine's sake, which writes on JavaScript's stack. */
const nativeDepth = 512;

/** Whether a key may come next, where the engine writes them. */
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

/** Whether the engine's own text of a container is ours, as it mostly is of a value in normal form. */
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

/** By the engine where it can, by the writer where it can not. */
const writeNative = (value: ToolValue, follows: Follows, style: Style): string =>
  isNativeItem(value, follows) ? JSON.stringify(value) : write(value, style);

const jsonStyle: Style = { keys: sortedKeys, escape: false, attachment: unreachable };

/** The canonical text (RFC 8785, integers exact at any size). */
export const stringify = (json: Json): string => writeNative(json, inOrder, jsonStyle);

const recordStyle: Style = { keys: givenKeys, escape: false, attachment: unreachable };

/** The text of an encoded record, its fields in the order of its codec. */
export const stringifyRecord = (encoded: unknown): string => writeNative(encoded as Json, asGiven, recordStyle);

const encodedStyle: Style = {
  keys: sortedKeys,
  escape: true,
  attachment: (a, text) => `${text}{"${tagKey}":"attachment","ref":${stringify(AttachmentRef.encode(a.ref) as Json)}}`,
};

/** The canonical text of a value's encoded form, in one pass. */
export const canonicalJson = (value: ToolValue): string => writeNative(value, inOrder, encodedStyle);

/** Compact text, cut at each attachment: `onText` and `onAttachment` are called in the order of the value. */
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
