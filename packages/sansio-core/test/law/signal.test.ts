import * as fc from "fast-check";
import { expect, it } from "vitest";
import { play, script } from "../arbitrary/play.ts";
import { strayRaises } from "../raised.ts";
import { crashed, drive } from "./drive.ts";

it("no signal is raised that the routing graph does not say", () => {
  const strays = strayRaises();
  const property = fc.property(script(), (one) => {
    const { state } = play(one);
    drive(state.scope.status.type === "moved" ? state : crashed(state));
    expect(strays).toEqual([]);
  });
  fc.assert(property, { numRuns: 300 });
});
