/** Wakes: what a session's model is told of its processes, until the host has it. */
import type { Command } from "@pawl/sansio-core";
import { type SessionScope, wakeId, wakeText } from "@pawl/sansio-core/driver";
import { tellHost } from "./run/told.ts";
import type { ScopeAccess } from "./work.ts";

type Delivery = Extract<Command, { readonly type: "wake.deliver" }>;

/** A wake as the host gets it. */
export interface Wake {
  /** One for each target and dedupe key: a host that got it already has nothing to do. */
  readonly wake_id: string;
  /** Under which it is acknowledged. */
  readonly key: string;
  readonly target: SessionScope;
  readonly process_id: string;
  readonly sequence: number;
  readonly event_type: string;
  readonly input: string;
  /** As a model reads it. */
  readonly text: string;
}

const wakeOf = ({ key, wake }: Delivery): Wake => {
  const { dedupe_key, ...said } = wake;
  return { wake_id: wakeId(wake.target, dedupe_key).wake_id, key, ...said, text: wakeText(wake) };
};

/** Tells the host until it takes it; it has taken it when its promise resolves. */
export const deliverWake = (
  scope: ScopeAccess,
  delivery: Delivery,
  tell: (wake: Wake) => Promise<void>,
): Promise<void> => {
  const { key } = delivery;
  const told = { type: "wake.acked", key } as const;
  return tellHost(scope, { key, tell: () => tell(wakeOf(delivery)), told, what: `wake ${key}` });
};
