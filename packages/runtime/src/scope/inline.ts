/** What a scope performs, with values in the place of references; and what bodies hear, in the order of the log. */
import type { Command, State } from "@pawl/sansio-core";
import type { Bodies } from "../body/bodies.ts";
import type { Answer } from "../body/body-port.ts";
import { isStep } from "./offload.ts";
import type { Cause } from "./runner.ts";
import type { Values } from "./values.ts";

export interface InlinePort {
  readonly values: Values;
  readonly state: () => State;
  readonly bodies: Bodies;
  readonly perform: (command: Command, cause: Cause) => void;
  readonly schedule: () => void;
  /** A value can not be read. */
  readonly fail: (thrown: unknown) => void;
}

/** The arguments of a flow's step are the core's own text, until the step is prepared: nothing in them is a reference. */
const isMadeByFlow = (state: State, command: Command): boolean => {
  switch (command.type) {
    case "args.check":
    case "tool.prepare":
      return isStep(state, command.call);
    case "hook.run":
      return command.phase === "before" && isStep(state, command.call);
    default:
      return false;
  }
};

export const inlining =
  ({ values, state, bodies, perform, schedule, fail }: InlinePort): InlinePort["perform"] =>
  (command, cause) => {
    if (isMadeByFlow(state(), command)) return perform(command, cause);
    if (command.type === "step.run") return values.inOrder(undefined, () => perform(command, cause), fail);
    if (command.type !== "step.answer") return values.inOrder(command, (shown) => perform(shown, cause), fail);
    const run = bodies.at(command.call);
    const answered = bodies.answerOf(command, cause);
    if (answered === undefined) return;
    const { answer, isRecorded } = answered;
    const hear = (shown: Answer | undefined): void => {
      run?.enqueueAnswer(shown ?? answer);
      schedule();
    };
    values.inOrder(isRecorded ? answer : undefined, hear, fail);
  };
