/** Scopes that move: here, as another host asks, and away, as somebody who may order it does. */
import { Refused, type Runtime } from "@pawl/runtime";
import type { ClientFrame, HostFrame } from "@pawl/wire/frame";
import { isScope } from "./execute.ts";

type ArrivingFrame = Extract<ClientFrame, { readonly type: "move_part" | "decline_move" }>;
type OrderFrame = Extract<ClientFrame, { readonly type: "move" }>;

const refuseMisnamed = (scope: string): void => {
  if (!isScope(scope)) throw new Refused("scope_unknown", `expected session:<id> or process:<id>, found \`${scope}\``);
};

export const arrive = async ({ moves: { arrivals } }: Runtime, frame: ArrivingFrame): Promise<HostFrame> => {
  const { id, scope } = frame;
  refuseMisnamed(scope);
  const answer = frame.type === "move_part" ? arrivals.send(frame) : arrivals.decline(scope, frame.nonce);
  return { type: "move_answered", id, answer: await answer };
};

/** Answers when the scope lives there. The same order again finds out how it ended. */
export const depart = async (runtime: Runtime, frame: OrderFrame): Promise<HostFrame> => {
  const { id, scope, to, bodies, within_ms: withinMs } = frame;
  refuseMisnamed(scope);
  await runtime.move(scope, to, {
    ...(bodies === undefined ? {} : { bodies }),
    ...(withinMs === undefined ? {} : { withinMs }),
  });
  return { type: "done", id };
};
