/** What was handed to a body, and what it hands over: the payload that its tool prepared, and bytes for keeping. */
import { type AttachmentCreateMeta, type AttachmentRef, type Codec, describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { putAttachment } from "../../journal/attachment.ts";
import { EffectError } from "../../error.ts";
import { ended } from "../signals.ts";
import { type Asking, handled } from "./asking.ts";

export interface Handed {
  /** The prepared payload, decoded. */
  readonly payloadAs: <A>(codec: Codec<A>) => A;
  readonly attachments: {
    /** The same bytes are the same attachment, so that a body that runs again may put them again. */
    readonly put: (bytes: Uint8Array, meta: AttachmentCreateMeta) => Promise<AttachmentRef>;
  };
}

export const handed = ({ body, facts }: Asking): Handed => ({
  payloadAs: (codec) => {
    const payload = read(codec, facts.payload);
    if (E.isLeft(payload)) throw new EffectError("prepared_payload", `the prepared payload: ${describe(payload.left)}`);
    return payload.right;
  },
  attachments: {
    put: (bytes, meta) => handled(body.isOver ? Promise.reject(ended) : putAttachment(facts.attachments, bytes, meta)),
  },
});
