/**
 * A tool that needs a connection first. Its call is parked until the host has answered, over restarts as well: the body
 * has ended, and a wait stands for what it needs. Saved, the tool is run again; refused, the host's text is its error.
 */
import { type CallRow, type Event, type State, bodyOf } from "@pawl/sansio-core";
import { type ToolResult, ok } from "@pawl/tool-value";
import { type CallFacts, customKeyId } from "./context/facts.ts";

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

const prefix = "connection:";

/** The effect that waits for the host, and the key of its wait: each wait is resolved once, and the next has its own. */
export const connectionWait = (
  { waits }: State,
  facts: CallFacts,
  provider: string,
): { readonly key: string; readonly wait: string } => {
  for (let n = 1; ; n++) {
    const wait = customKeyId(facts, `pawl:connection:${facts.name}:${n}`);
    if (waits.at(wait)?.terminal === undefined) return { key: prefix + provider, wait };
  }
};

/** What a parked call needs, if it is parked for a connection. */
export const connectionOf = (
  { scope: { id: scope }, calls }: State,
  call: string,
): (ConnectionRequest & { readonly wait: string }) | undefined => {
  const row = calls.at(call);
  if (row?.phase !== "suspended") return undefined;
  const open = row.body.open.find(({ key }) => key.startsWith(prefix));
  if (open?.wait === undefined) return undefined;
  const provider = open.key.slice(prefix.length);
  return { scope, call: row.call.ref, callId: row.call.id, tool: row.tool, provider, wait: open.wait };
};

/** The key of the connection that a call was parked for, if the host has answered. */
export const answeredConnection = (row: CallRow | undefined): string | undefined => {
  const settled = row === undefined ? undefined : bodyOf(row)?.settled;
  return settled?.keys().find((key) => key.startsWith(prefix));
};

/** Why there is no connection, in the event that ended the wait. */
export const refusalIn = (event: Event): string =>
  event.type === "wait.resolved" && event.resolution.status === "err"
    ? event.resolution.payload.message
    : "the connection was not made";

/** What a host gets that answers no such requests. */
export const unanswered = (provider: string): ToolResult => ok({ connection_required: provider });
