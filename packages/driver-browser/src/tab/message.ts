/** The messages between the tabs of one journal: news of durable events, questions if the leader is alive, and streams that are read. */
import { StreamFrame } from "@pawl/runtime/driver";
import { type Codec, optional, string, tagged, u64 } from "@pawl/tool-value";

/** What a reader asks for: a stream, from where it has it. */
export interface StreamQuestion {
  /** Names the reader, and the lock that it holds for as long as it reads. */
  readonly reader: string;
  /** Counts its questions: an answer to an earlier one is void. */
  readonly asking: number;
  /** The tab that is asked: one that was replaced, and does not know it yet, keeps silent. */
  readonly writer: string;
  readonly scope: string;
  readonly call: string;
  readonly name: string;
  /** A place that the reader has come to: of an attempt or, without one, in what is on record. */
  readonly at: number;
  readonly attempt?: number;
}

export type TabMessage =
  /** Announces durable events. */
  | { readonly type: "appended"; readonly scope: string; readonly seq: number }
  /** Asks if the writer is alive. */
  | { readonly type: "asked" }
  /** Answers that the writer is alive. */
  | { readonly type: "beat"; readonly writer: string }
  /** Announces that the writer did not answer and is being replaced. */
  | { readonly type: "stealing" }
  | ({ readonly type: "stream_asked" } & StreamQuestion)
  /** Tells a reader the next frame. */
  | { readonly type: "stream_told"; readonly reader: string; readonly asking: number; readonly frame: StreamFrame }
  /** Says that the reader has taken its frame, and wants the next. */
  | { readonly type: "stream_taken"; readonly reader: string; readonly asking: number }
  | {
      readonly type: "stream_refused";
      readonly reader: string;
      readonly asking: number;
      readonly code: string;
      readonly message: string;
    };

const answer = { reader: string, asking: u64 };

export const TabMessage: Codec<TabMessage> = tagged<TabMessage, "type">("tab message", "type", {
  appended: { scope: string, seq: u64 },
  asked: {},
  beat: { writer: string },
  stealing: {},
  stream_asked: {
    ...answer,
    writer: string,
    scope: string,
    call: string,
    name: string,
    at: u64,
    attempt: optional(u64),
  },
  stream_told: { ...answer, frame: StreamFrame },
  stream_taken: answer,
  stream_refused: { ...answer, code: string, message: string },
});
