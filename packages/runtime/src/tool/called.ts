/** Calls of tools, as those who make them see it: a tool, and the value that it gives, or how it failed. */
import type { FailureClass, ToolValue } from "@pawl/tool-value";
import type { Reply } from "../session/call.ts";

/** A tool as a call names it: its definition, which types the call, or its name. */
export type CalledTool<Input, Result> =
  | { readonly name: string; readonly "~types"?: { readonly input: Input; readonly result: Result } }
  | string;

/** Thrown where a call has ended without a result. It has the failure's own message. */
export class ToolFailed extends Error {
  override readonly name = "ToolFailed";
  /** The class of the failure; `cancelled` where the call was cancelled. */
  readonly class: FailureClass | "cancelled";
  readonly code: string;
  /** The whole reply: which call it was, with which arguments, and its output. */
  readonly reply: Reply;

  constructor(reply: Reply, failure: Pick<ToolFailed, "class" | "code" | "message">) {
    super(failure.message);
    this.class = failure.class;
    this.code = failure.code;
    this.reply = reply;
  }
}

/** Returns the value of a call that has succeeded; throws `ToolFailed` for any other. */
export const valueOfReply = (reply: Reply): ToolValue => {
  const { outcome } = reply.output;
  switch (outcome.status) {
    case "success":
      return outcome.payload;
    case "failure":
      throw new ToolFailed(reply, outcome.payload);
    case "cancelled":
      throw new ToolFailed(reply, { class: "cancelled", code: "cancelled", message: outcome.payload.message });
  }
};
