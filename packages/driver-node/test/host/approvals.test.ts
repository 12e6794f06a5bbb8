/** Approvals that clients see at a host, even right after its start. */
import { memoryJournal } from "@pawl/runtime";
import { stableHash } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import { clientOf, greeted, hostOf, runtimeOf } from "./rig.ts";
import { asked, payloads, use } from "./tools.ts";

const reviewer = { by: "rita", rights: ["observe", "approve"], scopes: ["session:team-1/"] } as const;
const hash = stableHash({ amount: 1 });

describe("a client that decides", () => {
  it("finds open approvals of unknown sessions after a restart of the host, and decides", async () => {
    const journal = memoryJournal();
    const first = runtimeOf([asked], journal, "i1");
    for (const id of ["team-1/a", "team-1/b", "team-2/c"])
      void (await first.session(id)).request("r", use("asked", { amount: 1 })).catch(() => undefined); // Ends with its runtime.
    await expect.poll(() => first.awaitingApproval()).toHaveLength(3);
    await first.close();

    const host = await hostOf([asked], { runtime: runtimeOf([asked], journal, "i2") });
    const client = clientOf(host, reviewer);
    const prefix = "session:team-1/";
    const wanted = await client.awaitingApproval({ prefix });
    expect(wanted).toEqual(["a", "b"].map((id) => ({ scope: `session:team-1/${id}`, approvals: 1 })));
    expect(await client.awaitingApproval({ prefix, after: "session:team-1/a", limit: 5 })).toEqual([wanted[1]]);
    expect(await client.awaitingApproval({ prefix, limit: 1 })).toEqual([wanted[0]]);

    const session = client.session("team-1/a");
    const [approval] = await session.approvals();
    expect(approval).toMatchObject({ call: "r:c", tool: "asked", args: { amount: 1 }, hash });
    expect(approval?.askedAt).toBeGreaterThan(Date.now() - 60_000);
    await session.approve("r:c", { hash });
    expect(await session.approvals()).toEqual([]);
    const caller = clientOf(host).session("team-1/a");
    expect(payloads(await caller.replies("r"))).toEqual([2]);
    expect(await client.awaitingApproval({ prefix })).toEqual([wanted[1]]);
  });

  it("sees only what its token covers", async () => {
    const host = await hostOf([asked]);
    const client = clientOf(host, reviewer);
    await expect(client.awaitingApproval()).rejects.toMatchObject({ code: "permission_denied" });
    await expect(client.session("team-2/c").approvals()).rejects.toMatchObject({ code: "permission_denied" });
    const caller = clientOf(host, { rights: ["call", "approve"] });
    await expect(caller.awaitingApproval()).rejects.toMatchObject({ code: "permission_denied" });
    await expect(client.session("team-1/none").approvals()).rejects.toMatchObject({ code: "scope_unknown" });
    const raw = await greeted(host);
    const page = { type: "awaiting_approval", scope: "session:", id: 1, limit: 2 ** 52 };
    expect(await raw.ask(page)).toEqual({ type: "scopes_awaiting", id: 1, scopes: [] });
  });
});
