/** What a page and the desk that works on its logs say to each other; a desk may be in a worker. */
import type { Finished, Header, PackedBlob } from "@pawl/sansio-core";
import type { Json } from "@pawl/tool-value";
import type { MissingValue } from "../model/missing-values.ts";
import type { FirstDifference } from "../model/compare.ts";
import type { Entry } from "../model/entry.ts";
import type { Moment } from "../model/moment.ts";
import type { Trouble } from "../model/recording.ts";
import type { SheetNews } from "../model/lane-builder.ts";

/** Two logs lie on a desk: the one that was opened, and beside it a fork of it. */
export type Side = "log" | "fork";

/** What is new in a log since the last time. */
export interface News extends SheetNews {
  readonly header: Header | undefined;
  readonly entries: readonly Entry[];
  readonly last: number;
  readonly trusted: number;
  readonly trouble: Trouble | undefined;
  /** Whether all of the text that came is worked in. */
  readonly isDone: boolean;
  /** Of a fork: where it first differs from the log. */
  readonly difference?: FirstDifference;
}

/** A fork as an engine takes it. */
export interface ForkedLog {
  readonly scope: string;
  readonly epoch: number;
  readonly protocol: number;
  readonly at: number;
  readonly wakeAt: number | undefined;
  readonly header: Header;
  readonly lines: readonly { readonly seq: number; readonly line: string; readonly finished: readonly Finished[] }[];
  /** Large values that the lines name, as far as they can be had. */
  readonly blobs: readonly PackedBlob[];
}

export type Forked =
  | { readonly type: "refused"; readonly code: string; readonly message: string }
  /** It lies beside the log; of what was recorded after it, these did not fit. */
  | { readonly type: "ran_on"; readonly left: readonly number[] }
  | { readonly type: "forked"; readonly log: ForkedLog };

export interface Questions {
  readonly moment: { readonly ask: { readonly side: Side; readonly seq: number }; readonly answer: Moment };
  readonly search: { readonly ask: { readonly query: string }; readonly answer: readonly number[] };
  /** `runOn`: with what was recorded, or later by an engine. */
  readonly fork: {
    readonly ask: { readonly seq: number; readonly edited?: Json; readonly runOn: boolean };
    readonly answer: Forked;
  };
  /** Large values that are not in the log as it stands: it has so many lines. */
  readonly absent: {
    readonly ask: { readonly side: Side };
    readonly answer: { readonly lines: number; readonly absent: readonly MissingValue[] };
  };
  /** All of it, or its first lines, with these blobs packed into it. */
  readonly text: {
    readonly ask: { readonly side: Side; readonly lines?: number; readonly blobs?: readonly PackedBlob[] };
    readonly answer: string;
  };
}
export type QuestionType = keyof Questions;
export type Question = { [T in QuestionType]: { readonly type: T } & Questions[T]["ask"] }[QuestionType];
export type AnswerTo<T extends QuestionType> = Questions[T]["answer"];

export type ToDesk =
  | { readonly type: "feed"; readonly side: Side; readonly text: string }
  | { readonly type: "end"; readonly side: Side }
  | { readonly type: "clear"; readonly side: Side }
  | { readonly type: "ask"; readonly id: number; readonly question: Question };

export type FromDesk =
  | { readonly type: "news"; readonly side: Side; readonly news: News }
  | { readonly type: "answer"; readonly id: number; readonly answer: AnswerTo<QuestionType> }
  | { readonly type: "failed"; readonly id: number; readonly message: string };
