/** A small form of `pnpm fleet`. */
import { describe, expect, it } from "vitest";
import { hasServer, testServer } from "../../../journal-postgres/test/server.ts";
import { runFleet } from "./fleet.ts";

describe.runIf(hasServer)("three hosts on one database", () => {
  it("lose and double nothing while any of them is killed", async () => {
    const server = await testServer();
    try {
      const { wrong, kills, takeovers } = await runFleet({ url: server.url, seed: 1, kills: 8 });
      expect(wrong).toEqual([]);
      expect(kills).toBeGreaterThanOrEqual(8);
      expect(takeovers).toBeGreaterThanOrEqual(1);
    } finally {
      await server.remove();
    }
  });
});
