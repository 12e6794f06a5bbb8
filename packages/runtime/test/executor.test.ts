import { describe, expect, it } from "vitest";
import { type Offer, Executors } from "../src/session/executor/executor.ts";
import { TestPlatform } from "./world.ts";

const offer: Offer = {
  scope: "session:s",
  call: "r:c",
  attempt: 1,
  run: 1,
  tool_id: "t",
  tool: "t",
  args: {},
  payload: null,
};

const rig = () => {
  const platform = new TestPlatform();
  const said: string[] = [];
  const executors = new Executors(platform, 1000, {
    lost: (scope, owner) => said.push(`lost ${scope} ${owner}`),
    available: (tools) => said.push(`available ${tools.join()}`),
  });
  const register = (id: string): (() => void) =>
    executors.register({
      id,
      tools: ["t"],
      serves: (scope) => scope === "session:s",
      offer: ({ call }) => said.push(`${id}: offer ${call}`),
      cancel: ({ call }) => said.push(`${id}: cancel ${call}`),
    });
  return { platform, said, executors, register };
};

describe("the lease of an executor", () => {
  it("survives its return within the lease, and is told again what is its own", () => {
    const { platform, said, executors, register } = rig();
    const leave = register("e");
    executors.hold("executor:e", offer);
    executors.give("executor:e", offer);
    leave();
    platform.advance(999);
    executors.cancel(offer);
    register("e");
    platform.advance(5000);
    expect(said).toEqual(["available t", "e: offer r:c", "e: offer r:c", "e: cancel r:c", "available t"]);
  });

  it("is over when it has run out, and not while another connection of its holds", () => {
    const { platform, said, executors, register } = rig();
    const first = register("e");
    executors.hold("executor:e", offer);
    executors.give("executor:e", offer);
    const second = register("e");
    first();
    platform.advance(5000);
    expect(said.filter((one) => one.startsWith("lost"))).toEqual([]);
    second();
    platform.advance(1000);
    expect(said.at(-1)).toBe("lost session:s executor:e");
    expect(executors.pick("session:s", "t")).toBeUndefined();
    expect(executors.release("executor:e", offer)).toBe(false);
  });

  it("begins anew for one that only the log knows; one that is here is told", () => {
    const { platform, said, executors, register } = rig();
    executors.adopt("executor:gone", offer);
    register("here");
    executors.adopt("executor:here", offer);
    executors.adopt("executor:here", offer);
    platform.advance(1000);
    expect(said).toEqual(["available t", "here: offer r:c", "lost session:s executor:gone"]);
  });

  it("costs nobody anything of a call that has ended without it, whose late result is known for one", () => {
    const { platform, said, executors, register } = rig();
    const leave = register("e");
    executors.hold("executor:e", offer);
    executors.give("executor:e", offer);
    executors.ended("session:s", "r:c");
    leave();
    expect(executors.release("executor:e", offer)).toBe(true);
    platform.advance(1000);
    expect(said.filter((one) => one.startsWith("lost"))).toEqual([]);
  });

  it("is not told before it is on record, and is picked where it serves and has least to do", () => {
    const { said, executors, register } = rig();
    register("a");
    executors.hold("executor:a", offer);
    register("b");
    expect(said).not.toContain("a: offer r:c");
    expect(executors.pick("session:s", "t")).toBe("executor:b");
    expect(executors.pick("session:other", "t")).toBeUndefined();
    expect(executors.pick("session:s", "other")).toBeUndefined();
  });
});
