/** Tests the core simulation itself: it must catch a broken core and report a seed with a small log. */
import type * as Core from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import { afterEach, describe, expect, it, vi } from "vitest";
import { describeCoreSims, runCoreSims } from "../../src/core-sim/index.ts";

type Step = typeof Core.step;
type Outstanding = typeof Core.outstanding;

const broken = vi.hoisted(() => ({
  step: undefined as ((step: Step) => Step) | undefined,
  outstanding: undefined as ((outstanding: Outstanding) => Outstanding) | undefined,
}));

vi.mock("@pawl/sansio-core", async (original) => {
  const core = await original<typeof Core>();
  const step: Step = (...of) => (broken.step?.(core.step) ?? core.step)(...of);
  const outstanding: Outstanding = (...of) => (broken.outstanding?.(core.outstanding) ?? core.outstanding)(...of);
  return { ...core, step, outstanding };
});

afterEach(() => {
  broken.step = undefined;
  broken.outstanding = undefined;
});

const found = (of: { readonly protocol?: number } = {}): string => describeCoreSims(runCoreSims({ seeds: 40, ...of }));

/** Drops or doubles the commands of one type. */
const commanding =
  (type: Core.Command["type"], times: number) =>
  (step: Step): Step =>
  (...of) =>
    E.map((transition: Core.Transition) => ({
      ...transition,
      commands: transition.commands.flatMap((command) =>
        command.type === type ? Array.from({ length: times }, () => command) : [command],
      ),
    }))(step(...of));

describe("the core simulation catches a core", () => {
  it("that replies twice", () => {
    broken.step = commanding("reply", 2);
    expect(found()).toMatch(/conservation: (?:session|process):\w+ r\d+: submitted 1 times, replied to 2 times/);
  });

  it("that hides calls from their observers", () => {
    broken.step = commanding("observe", 0);
    expect(found()).toMatch(/conservation: (?:session|process):\w+ \S+: its start was not observed/);
  });

  it("that forgets messages in transit after a crash", () => {
    broken.outstanding = (outstanding) => (state) => outstanding(state).filter(({ type }) => type !== "send");
    expect(found()).toMatch(/conservation: .* sent 1, received \d, answered \d, acknowledged 0|stuck/);
  });

  it("that is upgraded while it moves", () => {
    broken.step = (step) => (state, envelope) => {
      const isUpgrade = envelope.event.type === "scope.upgraded" && state.scope.status.type === "moving";
      return step(isUpgrade ? { ...state, scope: { ...state.scope, status: { type: "open" } } } : state, envelope);
    };
    expect(found()).toContain("expected scope_is_moving");
  });

  it("that takes parts of protocol 2 under protocol 1", () => {
    broken.step = (step) => (state, envelope) => {
      const result = step(state, envelope);
      return E.isLeft(result) && result.left.code === "needs_protocol_2"
        ? step(state, { ...envelope, event: { type: "clock.ticked" } })
        : result;
    };
    expect(found()).toContain("expected needs_protocol_2");
  });

  it("that replays to another state", () => {
    let steps = 0;
    broken.step = (step) => (state, envelope) => {
      steps += 1;
      return E.map((transition: Core.Transition) => (steps % 50 === 0 ? { ...transition, commands: [] } : transition))(
        step(state, envelope),
      );
    };
    expect(found({ protocol: 1 })).toMatch(
      /replay: .* its commands hash to [0-9a-f]{16} live, and to [0-9a-f]{16} in replay/,
    );
  });

  it("that throws, and shows the event at which it does", () => {
    broken.step = (step) => (state, envelope) => {
      if (envelope.event.type === "call.suspended") throw new Error("broken here");
      return step(state, envelope);
    };
    const text = found();
    expect(text).toMatch(/seed \d+ fails: thrown: Error: broken here/);
    expect(text).toMatch(/shrunk:\n1 \d+ \{"type":"call.suspended"[^\n]*$/);
  });

  it("whose time goes back, and prints how to repeat it, with a minimal log", () => {
    broken.step = (step) => (state, envelope) =>
      E.map((transition: Core.Transition) =>
        envelope.event.type === "wait.revoked"
          ? { ...transition, state: { ...transition.state, at: transition.state.at - 1 } }
          : transition,
      )(step(state, envelope));
    const lines = found({ protocol: 1 }).split("\n");
    expect(lines.find((line) => line.startsWith("again: "))).toMatch(
      /^again: pnpm core-sim --seed \d+ .*--protocol 1$/,
    );
    const from = lines.findIndex((line) => line.startsWith("the log of "));
    expect(lines.slice(from + 1).length).toBeLessThanOrEqual(5); // Of hundreds: what a seed is shrunk to is not unique.
  });
});
