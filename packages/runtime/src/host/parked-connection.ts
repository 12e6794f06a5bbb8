/** The wait of a call that is parked for a connection. */
import type { Event, State } from "@pawl/sansio-core";
import type { CallFacts } from "../body/facet/facts.ts";
import { customKeyId } from "./call-place.ts";
import { type ConnectionRequest, prefix } from "./connection.ts";

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

/** Why there is no connection, in the event that ended the wait. */
export const refusalIn = (event: Event): string =>
  event.type === "wait.resolved" && event.resolution.status === "err"
    ? event.resolution.payload.message
    : "the connection was not made";
