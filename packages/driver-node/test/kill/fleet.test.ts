/** A small form of `pnpm fleet`. */
import { describe, expect, it } from "vitest";
import { hasServer, testServer } from "../../../journal-postgres/test/server.ts";
import { runFleet } from "./fleet.ts";

describe.runIf(hasServer)("three hosts on one database", () => {
  it("lose and double nothing while any of them is killed, or frozen beyond its lease", async () => {
    const server = await testServer();
    try {
      const { wrong, kills, freezes, takeovers } = await runFleet({
        url: server.url,
        seed: 1,
        kills: 4,
        freezes: true,
      });
      expect(wrong).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(4);
      expect(freezes).toBeGreaterThanOrEqual(2);
      expect(takeovers).toBeGreaterThanOrEqual(1);
    } finally {
      await server.remove();
    }
  });
});
