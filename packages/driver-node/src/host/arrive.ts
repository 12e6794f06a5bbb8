/** Scopes that move here over the wire. */
import { Refused, type Runtime } from "@pawl/runtime";
import type { ClientFrame } from "../wire/client-frame.ts";
import type { HostFrame } from "../wire/host-frame.ts";

type MoveFrame = Extract<ClientFrame, { readonly type: "move_part" | "decline_move" }>;

const isScope = /^(?:session|process):./;

export const arrive = async ({ moves: { arrivals } }: Runtime, frame: MoveFrame): Promise<HostFrame> => {
  const { id, scope } = frame;
  if (!isScope.test(scope))
    throw new Refused("scope_unknown", `expected session:<id> or process:<id>, found \`${scope}\``);
  const answer = frame.type === "move_part" ? arrivals.send(frame) : arrivals.decline(scope, frame.nonce);
  return { type: "move_answered", id, answer: await answer };
};
