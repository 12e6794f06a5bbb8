import { boolean, optional, string, u64 } from "@pawl/tool-value";
import { MessageCodec, OutcomeCodec } from "../message/codec.ts";

const place = { link: u64, number: u64 };

export const linkEvents = {
  "message.received": {
    from: string,
    ...place,
    heard: u64,
    message: MessageCodec,
    invalid: optional(string),
    known: optional(boolean),
  },
  "message.answered": { to: string, ...place, outcome: OutcomeCodec },
  "link.retired": { peer: string },
} as const;
