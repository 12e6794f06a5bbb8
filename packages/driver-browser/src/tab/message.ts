/** The messages between the tabs of one journal: news of durable events, questions if the leader is alive, and streams that are read. */
import { type Codec, type Json, json, string, tagged, u64 } from "@pawl/tool-value";

export type TabMessage =
  /** Announces durable events. */
  | { readonly type: "appended"; readonly scope: string; readonly seq: number }
  /** Asks if the writer is alive. */
  | { readonly type: "asked" }
  /** Answers that the writer is alive. */
  | { readonly type: "beat"; readonly writer: string }
  /** Announces that the writer did not answer and is being replaced. */
  | { readonly type: "stealing" }
  /** A word between a reader of a stream and the writer, in a form of this number: `stream.ts` knows it. */
  | { readonly type: "stream"; readonly form: number; readonly word: Json };

export const TabMessage: Codec<TabMessage> = tagged<TabMessage, "type">("tab message", "type", {
  appended: { scope: string, seq: u64 },
  asked: {},
  beat: { writer: string },
  stealing: {},
  stream: { form: u64, word: json },
});
