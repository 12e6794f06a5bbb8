/** Limits on the questions in flight of one connection, by number and bytes. */
import { describe, expect, it } from "vitest";
import { InFlight, defaultHostLimits } from "../../src/host/limits.ts";

const begin = () => new InFlight({ ...defaultHostLimits, maxInFlight: 3, maxInFlightBytes: 100 });

describe("questions in flight", () => {
  it("are limited in number, and one more may come when one is answered", () => {
    const flight = begin();
    for (const id of [1, 2, 3]) {
      expect(flight.problem(id, 10)).toBeUndefined();
      flight.begin(id, 10);
    }
    expect(flight.problem(4, 10)).toMatchObject({ id: 4, code: "too_many_in_flight", retry_after_ms: 1000 });
    expect(flight.problem(2, 10)).toMatchObject({ id: 2, code: "id_in_use" });
    flight.end(2);
    expect(flight.problem(2, 10)).toBeUndefined();
  });

  it("are limited in bytes, without those that are answered", () => {
    const flight = begin();
    flight.begin(1, 60);
    expect(flight.problem(2, 40)).toBeUndefined();
    expect(flight.problem(2, 41)).toMatchObject({ code: "too_many_in_flight" });
    flight.end(1);
    expect(flight.problem(2, 500)).toBeUndefined(); // With nothing in flight any question is allowed.
    flight.begin(2, 500);
    expect(flight.problem(3, 1)).toMatchObject({ code: "too_many_in_flight" });
    flight.end(2);
    flight.end(2);
    flight.begin(3, 60);
    expect(flight.problem(4, 40)).toBeUndefined();
  });

  it("are aborted when nobody waits for their answers, but not those already answered", () => {
    const flight = begin();
    const [answered, open] = [flight.begin(1, 1), flight.begin(2, 1)];
    flight.end(1);
    flight.abort();
    expect([answered.aborted, open.aborted]).toEqual([false, true]);
  });
});
