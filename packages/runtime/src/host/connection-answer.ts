/** What a host has answered to a call that is parked for a connection. */
import type { Event, State } from "@pawl/sansio-core";
import type { Resolution } from "@pawl/tool-value";
import { type ConnectionAnswer } from "./connection.ts";
import { connectionOf } from "./parked-connection.ts";
import { Refused } from "../error.ts";

const resolutionOf = (answer: ConnectionAnswer): Resolution =>
  answer.status === "saved"
    ? { status: "ok", payload: null }
    : { status: "err", payload: { code: "connection_refused", message: answer.message } };

/** The event that says what the host has answered. */
export const answerOfHost = (state: State, call: string, answer: ConnectionAnswer, by: string | undefined): Event => {
  const parked = connectionOf(state, call);
  if (parked === undefined) throw new Refused("not_parked", `call \`${call}\` waits for no connection`);
  const resolution = resolutionOf(answer);
  return { type: "wait.resolved", key: parked.wait, resolution, ...(by === undefined ? {} : { by }) };
};
