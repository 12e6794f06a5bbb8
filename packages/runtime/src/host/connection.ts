/**
 * A tool that needs a connection first. Its call is parked until the host has answered, over restarts as well: the body
 * has ended, and a wait stands for what it needs. Saved, the tool is run again; refused, the host's text is its error.
 */
import { type CallRow, bodyOf } from "@pawl/sansio-core/driver";
import { type ToolResult, ok } from "@pawl/tool-value";

/** What the host is asked for. */
export interface ConnectionRequest {
  readonly scope: string;
  readonly call: string;
  readonly callId: string;
  readonly tool: string;
  readonly provider: string;
}

export type ConnectionAnswer =
  | { readonly status: "saved" }
  /** The text is the tool's error. */
  | { readonly status: "refused"; readonly message: string };

export const prefix = "connection:";

/** The key of the connection that a call was parked for, if the host has answered. */
export const answeredConnection = (row: CallRow | undefined): string | undefined => {
  const settled = row === undefined ? undefined : bodyOf(row)?.settled;
  return settled?.keys().find((key) => key.startsWith(prefix));
};

/** What a host gets that answers no such requests. */
export const unanswered = (provider: string): ToolResult => ok({ connection_required: provider });
