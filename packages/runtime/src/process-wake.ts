/** Wakes: what a session's model is told of its processes, until the host has it. */
import { type Command, type SessionScope, wakeId, wakeText } from "@pawl/sansio-core";
import type { Workplace } from "./process-work.ts";

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

const pauseMs = (tries: number): number => Math.min(60_000, 1000 * 2 ** tries);

/** Tells the host, again and again until it takes it; it has taken it when its promise resolves. */
export const deliverWake = async (
  scope: Workplace,
  delivery: Delivery,
  tell: (wake: Wake) => Promise<void>,
): Promise<void> => {
  for (let tries = 0; !scope.runner.isLost && scope.runner.state.outbox.has(delivery.key); tries++) {
    try {
      await tell(wakeOf(delivery));
      if (!scope.runner.isLost) scope.runner.tell({ type: "wake.acked", key: delivery.key });
      return;
    } catch (thrown) {
      scope.report(`wake ${delivery.key}`, thrown);
      await new Promise<void>((resolve) => void scope.platform.later(pauseMs(tries), resolve));
    }
  }
};
