import { describe, expect, it } from "vitest";
import { Load, bytesPerApproval, bytesPerPending, bytesPerStep, manyCalls, manySteps } from "./load.ts";

describe("a snapshot", () => {
  it("has at most 120 bytes for a settled step", () => {
    expect(bytesPerStep()).toBeLessThanOrEqual(120);
  });
  it("has at most 600 bytes for a parked call with 100 bytes of arguments", () => {
    expect(bytesPerPending()).toBeLessThanOrEqual(600);
    expect(bytesPerApproval()).toBeLessThanOrEqual(600);
  });
  it("does not grow with the calls that went through its session", () => {
    const load = Load.open();
    manyCalls(load, 10_000, 11_000);
    const size = load.size;
    manyCalls(load, 11_000, 100_000);
    expect(load.size - size).toBeLessThan(10); // The sequence and the time have more digits.
  });
  it("does not grow with the steps of a body that begins anew from time to time", () => {
    const load = Load.open().submit("r");
    manySteps(load, 0, 10_000, 1000);
    const size = load.size;
    manySteps(load, 10_000, 1_000_000, 1000);
    expect(load.size - size).toBeLessThan(20);
  });
});
