/** Attachments. Values never contain bytes: an attachment refers to bytes that are stored elsewhere. */
import * as E from "fp-ts/lib/Either.js";
import { type Codec, string, u32, u64 } from "./codec.ts";
import { describe } from "./json.ts";
import { optional, read, record } from "./record.ts";
import { oneOf, tagged } from "./union.ts";

export const imageTypes = ["png", "jpeg", "gif", "webp", "bmp"] as const;
export type ImageType = (typeof imageTypes)[number];

export type MediaType =
  | { readonly kind: "image"; readonly type: ImageType }
  | { readonly kind: "file"; readonly type: string };
export const MediaType: Codec<MediaType> = tagged<MediaType, "kind">("MediaType", "kind", {
  image: { type: oneOf("an image type", ...imageTypes) },
  file: { type: string },
});

/** Reads a MIME type: the image types that models accept, or a file of any other type. */
export const parseMediaType = (mime: string): MediaType => {
  const type = mime.trim().toLowerCase();
  const image = type === "image/jpg" ? "jpeg" : imageTypes.find((name) => type === `image/${name}`);
  return image === undefined ? { kind: "file", type } : { kind: "image", type: image };
};

/** Returns the MIME type. */
export const mimeOf = (media: MediaType): string => (media.kind === "image" ? `image/${media.type}` : media.type);

/** The address of stored bytes, with what a reader needs to know before it fetches them. */
export interface AttachmentRef {
  readonly id: string;
  readonly media_type: MediaType;
  readonly byte_len: number;
  readonly width?: number;
  readonly height?: number;
  readonly label?: string;
}
/** The fields of a ref in wire order. A part of a model return contains them inline. */
export const attachmentFields = {
  id: string,
  media_type: MediaType,
  byte_len: u64,
  width: optional(u32),
  height: optional(u32),
  label: optional(string),
};
export const AttachmentRef: Codec<AttachmentRef> = record<AttachmentRef>("struct AttachmentRef", attachmentFields);

/** The description that a tool gives with bytes it wants stored. */
export interface AttachmentCreateMeta {
  readonly media_type: MediaType;
  readonly width?: number;
  readonly height?: number;
  readonly label?: string;
}
export const AttachmentCreateMeta: Codec<AttachmentCreateMeta> = record<AttachmentCreateMeta>(
  "struct AttachmentCreateMeta",
  { media_type: MediaType, width: optional(u32), height: optional(u32), label: optional(string) },
);

/** A value that stands for stored bytes. The private field makes it unforgeable: no look-alike passes `is`. */
export class Attachment {
  readonly #ref: AttachmentRef;

  constructor(ref: AttachmentRef) {
    const checked = read(AttachmentRef, ref);
    if (E.isLeft(checked)) throw new TypeError(`an attachment needs a ref: ${describe(checked.left)}`);
    this.#ref = Object.freeze({ ...checked.right, media_type: Object.freeze(checked.right.media_type) });
    Object.freeze(this);
  }

  get ref(): AttachmentRef {
    return this.#ref;
  }

  static is(u: unknown): u is Attachment {
    return typeof u === "object" && u !== null && #ref in u;
  }
}

/** Throws a TypeError if the ref is invalid. Decode refs from outside with the codec `AttachmentRef` first. */
export const attachment = (ref: AttachmentRef): Attachment => new Attachment(ref);
/** Recognises attachments; no object from outside can pass for one. */
export const isAttachment = (u: unknown): u is Attachment => Attachment.is(u);
