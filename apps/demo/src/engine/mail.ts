/** What a host says to a tab that it moves a scope to. It can not call a tab, so that the tab asks for its mail. */
import { MoveAnswer, type MovePart } from "@pawl/runtime";
import { type Codec, record, string, tagged, u64 } from "@pawl/tool-value";

export type MailBody =
  | { readonly type: "part"; readonly part: MovePart }
  | { readonly type: "decline"; readonly scope: string; readonly nonce: string };

export interface Mail {
  readonly id: number;
  readonly body: MailBody;
}

export interface MailAnswer {
  readonly id: number;
  readonly answer: MoveAnswer;
}

const MovePartCodec: Codec<MovePart> = record<MovePart>("a part of a move", {
  scope: string,
  nonce: string,
  part: u64,
  parts: u64,
  text: string,
});

export const MailCodec: Codec<Mail> = record<Mail>("mail", {
  id: u64,
  body: tagged<MailBody, "type">("a letter", "type", {
    part: { part: MovePartCodec },
    decline: { scope: string, nonce: string },
  }),
});

export const MailAnswerCodec: Codec<MailAnswer> = record<MailAnswer>("an answer to mail", {
  id: u64,
  answer: MoveAnswer,
});

/** What a tab asks the demo's server to do: bring a session of its own to it. */
export interface BringBack {
  readonly session: string;
}
export const BringBackCodec: Codec<BringBack> = record<BringBack>("an order to bring a session back", {
  session: string,
});
