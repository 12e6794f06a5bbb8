/** The messages between the page and the service that processes its logs. */
import type { Finished, Header } from "@pawl/sansio-core";
import type { PackedBlob } from "@pawl/sansio-core/driver";
import type { Json } from "@pawl/tool-value";
import type { MissingValue } from "../model/missing-values.ts";
import type { FirstDifference } from "../model/compare.ts";
import type { Entry } from "../model/entry.ts";
import type { Moment } from "../model/moment.ts";
import type { Problem } from "../model/recording.ts";
import type { LaneUpdate } from "../model/lane-builder.ts";

/** The two logs of the service: the one that was opened, and its fork. */
export type Side = "log" | "fork";

/** The changes of a log since the last update. */
export interface LogUpdate extends LaneUpdate {
  readonly header: Header | undefined;
  readonly entries: readonly Entry[];
  readonly last: number;
  readonly trusted: number;
  readonly problem: Problem | undefined;
  /** Set once all of the text has been processed. */
  readonly isDone: boolean;
  /** The first difference of a fork from the log. */
  readonly difference?: FirstDifference;
}

/** A fork in the form that an engine needs. */
export interface ForkedLog {
  readonly scope: string;
  readonly epoch: number;
  readonly protocol: number;
  readonly at: number;
  readonly wakeAt: number | undefined;
  readonly header: Header;
  readonly lines: readonly { readonly seq: number; readonly line: string; readonly finished: readonly Finished[] }[];
  /** The large values that the lines name and that are available. */
  readonly blobs: readonly PackedBlob[];
}

export type Forked =
  | { readonly type: "refused"; readonly code: string; readonly message: string }
  /** The fork was continued from the record; these events were left out because they no longer fit. */
  | { readonly type: "continued"; readonly left: readonly number[] }
  /** The fork is ready for an engine. */
  | { readonly type: "forked"; readonly log: ForkedLog };

export interface Questions {
  readonly moment: { readonly ask: { readonly side: Side; readonly seq: number }; readonly answer: Moment };
  readonly search: { readonly ask: { readonly query: string }; readonly answer: readonly number[] };
  /** `fromRecord`: continues the fork with the recorded events; otherwise an engine continues it. */
  readonly fork: {
    readonly ask: { readonly seq: number; readonly edited?: Json; readonly fromRecord: boolean };
    readonly answer: Forked;
  };
  /** Asks for the large values that the log lacks now, and its number of lines. */
  readonly missing: {
    readonly ask: { readonly side: Side };
    readonly answer: { readonly lines: number; readonly missing: readonly MissingValue[] };
  };
  /** Asks for the text of the log, or of its first lines, with these blobs packed into it. */
  readonly text: {
    readonly ask: { readonly side: Side; readonly lines?: number; readonly blobs?: readonly PackedBlob[] };
    readonly answer: string;
  };
}
export type QuestionType = keyof Questions;
export type Question = { [T in QuestionType]: { readonly type: T } & Questions[T]["ask"] }[QuestionType];
export type AnswerTo<T extends QuestionType> = Questions[T]["answer"];

export type ToWorker =
  | { readonly type: "feed"; readonly side: Side; readonly text: string }
  | { readonly type: "end"; readonly side: Side }
  | { readonly type: "clear"; readonly side: Side }
  | { readonly type: "ask"; readonly id: number; readonly question: Question };

export type FromWorker =
  | { readonly type: "update"; readonly side: Side; readonly update: LogUpdate }
  | { readonly type: "answer"; readonly id: number; readonly answer: AnswerTo<QuestionType> }
  | { readonly type: "failed"; readonly id: number; readonly message: string };
