/**
 * Messages of a session: those that hosts send, and answers of models. An answer comes in pieces, which are recorded
 * as they come; `assemble` makes its parts of them. `meta` is a provider's own, and goes back to it verbatim.
 */
import {
  type Codec,
  type Json,
  AttachmentRef,
  array,
  boolean,
  codecFrom,
  dict,
  json,
  laidOut,
  oneOf,
  optional,
  record,
  string,
  tagged,
  text,
  u32,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

export type Meta = { readonly [provider: string]: Json };

/** A part of a message that a host sends. Bytes are stored first: a part only names them. */
export type Part =
  | { readonly type: "text"; readonly text: string; readonly meta?: Meta }
  | { readonly type: "file"; readonly ref: AttachmentRef; readonly filename?: string; readonly meta?: Meta }
  | { readonly type: "url"; readonly url: string; readonly media_type: string; readonly meta?: Meta }
  | { readonly type: "provider-file"; readonly reference: Json; readonly media_type: string; readonly meta?: Meta };

export interface Message {
  readonly role: "user" | "system" | "assistant";
  readonly content: string | readonly Part[];
  readonly meta?: Meta;
}

export type AnswerPart =
  | { readonly type: "text"; readonly text: string; readonly meta?: Meta }
  | { readonly type: "reasoning"; readonly text: string; readonly meta?: Meta }
  /** `input` stands where the arguments are no JSON. `provider`: the provider runs it. */
  | {
      readonly type: "tool-call";
      readonly id: string;
      readonly tool: string;
      readonly args?: Json;
      readonly input?: string;
      readonly provider?: boolean;
      readonly dynamic?: boolean;
      readonly meta?: Meta;
    }
  /** The result of a provider's own call. */
  | {
      readonly type: "tool-result";
      readonly id: string;
      readonly tool: string;
      readonly result: Json;
      readonly error?: boolean;
      readonly meta?: Meta;
    }
  | {
      readonly type: "approval-request";
      readonly approval_id: string;
      readonly id: string;
      readonly tool?: string;
      readonly args?: Json;
      readonly meta?: Meta;
    }
  | { readonly type: "file"; readonly ref: AttachmentRef; readonly meta?: Meta }
  | { readonly type: "reasoning-file"; readonly ref: AttachmentRef; readonly meta?: Meta }
  | { readonly type: "source"; readonly value: Json; readonly meta?: Meta }
  | { readonly type: "custom"; readonly kind: string; readonly value?: Json; readonly meta?: Meta };

export type AnswerCall = Extract<AnswerPart, { readonly type: "tool-call" }>;
export type ApprovalRequest = Extract<AnswerPart, { readonly type: "approval-request" }>;

/** A piece of an answer. `b` is its block, counted from 0; the first piece of a block has `type` or `part`. */
export interface Piece {
  readonly b: number;
  readonly type?: "text" | "reasoning";
  readonly text?: string;
  readonly meta?: Meta;
  readonly part?: AnswerPart;
}

const merged = (a: Meta | undefined, b: Meta | undefined): { readonly meta?: Meta } =>
  a === undefined && b === undefined ? {} : { meta: { ...a, ...b } };

/** Adds a piece to what its block is so far. */
const grown = (before: AnswerPart | undefined, { type = "text", text: more = "", meta, part }: Piece): AnswerPart => {
  if (part !== undefined) return part;
  if (before === undefined) return { type, text: more, ...merged(undefined, meta) };
  if (before.type !== "text" && before.type !== "reasoning") return { ...before, ...merged(before.meta, meta) };
  return { type: before.type, text: before.text + more, ...merged(before.meta, meta) };
};

/** Makes the parts of an answer out of its pieces: a part a block, in the order of the blocks. */
export const assemble = (pieces: readonly Piece[]): readonly AnswerPart[] => {
  const blocks = new Map<number, AnswerPart>();
  for (const piece of pieces) blocks.set(piece.b, grown(blocks.get(piece.b), piece));
  return [...blocks].toSorted(([a], [b]) => a - b).map(([, part]) => part);
};

/** Puts the text that an attempt went on from in front of the parts that it said itself. */
export const continued = (prefix: string, parts: readonly AnswerPart[]): readonly AnswerPart[] => {
  if (prefix === "") return parts;
  const [first, ...rest] = parts;
  if (first?.type === "text") return [{ ...first, text: prefix + first.text }, ...rest];
  return [{ type: "text", text: prefix }, ...parts];
};

/** The text of an answer: that of its text parts, one after the other. */
export const textOf = (parts: readonly AnswerPart[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");

/** Returns whether pieces say text and nothing else, so that another attempt can go on from it. */
export const isTextAlone = (pieces: readonly Piece[]): boolean =>
  assemble(pieces).every(({ type }) => type === "text") && textOf(assemble(pieces)) !== "";

/** Returns whether a call is the host's to make, and not the provider's own. */
const isLocal = (part: AnswerPart): part is AnswerCall => part.type === "tool-call" && part.provider !== true;

/** The calls of an answer that are to be made here, in order. */
export const localCalls = (parts: readonly AnswerPart[]): readonly AnswerCall[] => parts.filter(isLocal);

export const approvalRequests = (parts: readonly AnswerPart[]): readonly ApprovalRequest[] =>
  parts.filter((part) => part.type === "approval-request");

/** Returns whether the provider runs a call of its own whose result this answer does not have. */
export const awaitsProvider = (parts: readonly AnswerPart[]): boolean =>
  parts.some(
    (part) =>
      part.type === "tool-call" &&
      part.provider === true &&
      !parts.some((other) => other.type === "tool-result" && other.id === part.id),
  );

/** The arguments of a call, or the text that stands where they are no JSON. */
export const argsOf = ({ args, input }: AnswerCall): Json => args ?? input ?? null;

/** Why a message cannot be shown to a model, if so. */
const problemOfMessage = ({ role, content }: Message): string | undefined => {
  if (typeof content === "string") return undefined;
  if (content.length === 0) return "it has no parts";
  const other = role === "system" ? content.find(({ type }) => type !== "text") : undefined;
  return other === undefined ? undefined : `a system message has a part of type \`${other.type}\`, expected text`;
};

const maxMessages = 1000;

/** Why messages cannot be taken, if so. */
export const problemOfMessages = (messages: readonly Message[]): string | undefined => {
  if (messages.length === 0) return "no messages, expected at least one";
  if (messages.length > maxMessages) return `${messages.length} messages, expected at most ${maxMessages}`;
  for (const [index, message] of messages.entries()) {
    const problem = problemOfMessage(message);
    if (problem !== undefined) return `message ${index}: ${problem}`;
  }
  return undefined;
};

// Codecs.

const meta = optional<Meta>(dict(json));
const media = { media_type: string, meta };

export const PartCodec: Codec<Part> = tagged<Part, "type">("Part", "type", {
  text: { text, meta },
  file: { ref: AttachmentRef, filename: optional(string), meta },
  url: { url: string, ...media },
  "provider-file": { reference: json, ...media },
});

const parts = array(PartCodec);
const textPart = (content: string): readonly Part[] => [{ type: "text", text: content }];
const listed = (content: Message["content"]): readonly Part[] =>
  typeof content === "string" ? textPart(content) : content;

/** A text is one part: so it stands in the log, where its values are found. */
const ContentCodec: Codec<Message["content"]> = laidOut(
  codecFrom<Message["content"]>(
    "a text or parts",
    (u): u is Message["content"] => text.is(u) || parts.is(u),
    (u, c) => parts.validate(typeof u === "string" ? textPart(u) : u, c),
    (content) => parts.encode(listed(content)),
  ),
  { type: "as", of: () => parts },
);

/** Decodes and encodes a message of a turn. */
export const MessageCodec: Codec<Message> = record<Message>("struct Message", {
  role: oneOf("a role", "user", "system", "assistant"),
  content: ContentCodec,
  meta,
});

const spoken = { text, meta };
const referred = { ref: AttachmentRef, meta };

export const AnswerPartCodec: Codec<AnswerPart> = tagged<AnswerPart, "type">("AnswerPart", "type", {
  text: spoken,
  reasoning: spoken,
  "tool-call": {
    id: text,
    tool: text,
    args: optional(json),
    input: optional(text),
    provider: optional(boolean),
    dynamic: optional(boolean),
    meta,
  },
  "tool-result": { id: text, tool: text, result: json, error: optional(boolean), meta },
  "approval-request": { approval_id: text, id: text, tool: optional(text), args: optional(json), meta },
  file: referred,
  "reasoning-file": referred,
  source: { value: json, meta },
  custom: { kind: string, value: optional(json), meta },
});

export const PieceCodec: Codec<Piece> = record<Piece>("struct Piece", {
  b: u32,
  type: optional(oneOf("text or reasoning", "text", "reasoning")),
  text: optional(text),
  meta,
  part: optional(AnswerPartCodec),
});
export const PiecesCodec: Codec<readonly Piece[]> = array(PieceCodec);

/** Reads a value of no fixed shape; undefined where it has another shape. */
export const decoded = <A>(codec: Codec<A>, value: unknown): A | undefined => {
  const result = codec.decode(value);
  return E.isRight(result) ? result.right : undefined;
};
