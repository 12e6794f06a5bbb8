/** Clients that scopes move to: their addresses, and their pending questions. */
import { describe, expect, it } from "vitest";
import { ReceiverConnection, Receivers } from "../../src/host/move.ts";
import { everything } from "../../../driver-node/test/host/rig.ts";

const part = { scope: "session:s", nonce: "n", part: 0, parts: 1, text: "{}" };
const never = { type: "never" } as const;

/** Makes a connection and records the numbers of its questions. */
const connected = (by = "ann", scopes: readonly string[] = [""]) => {
  const asked: number[] = [];
  const claims = { ...everything, by, scopes, rights: ["move"] as const };
  return { reception: new ReceiverConnection(claims, ({ n }) => asked.push(n)), asked };
};

describe("a client that scopes move to", () => {
  it("answers questions in any order; unexpected answers are ignored", async () => {
    const receivers = new Receivers();
    const { reception, asked } = connected();
    const mover = receivers.mover()(receivers.enter("page", reception));
    const [first, second] = [mover.send(part), mover.decline("session:s", "n")];
    await Promise.resolve();
    expect(asked).toEqual([1, 2]);
    reception.answered(9, never);
    reception.answered(2, never);
    reception.answered(1, { type: "more" });
    expect(await Promise.all([first, second])).toEqual([{ type: "more" }, never]);
    const third = mover.send(part);
    reception.answered(3, undefined);
    await expect(third).rejects.toThrow("its store did not answer");
  });

  it("fails all pending questions when its connection is lost, and is then away", async () => {
    const receivers = new Receivers();
    const { reception } = connected();
    const mover = receivers.mover()(receivers.enter("page", reception));
    const lost = expect(mover.send(part)).rejects.toThrow("its connection was lost");
    receivers.leave(reception);
    await lost;
    await expect(mover.ready?.("session:s")).rejects.toMatchObject({ code: "receiver_away" });
    await expect(mover.send(part)).rejects.toThrow("nobody is connected as client:ann/page");
  });

  it("stays when another one leaves, or its own earlier connection under the same name", async () => {
    const receivers = new Receivers();
    const [before, now, other] = [connected(), connected(), connected("bob")];
    receivers.enter("page", before.reception);
    const address = receivers.enter("page", now.reception);
    receivers.enter("page", other.reception);
    for (const { reception } of [before, other]) receivers.leave(reception);
    await expect(receivers.mover()(address).ready?.("session:s")).resolves.toBeUndefined();
  });

  it("has an address that no other name leads to", () => {
    const addresses = [
      ["ann", "a/b"],
      ["ann/a", "b"],
      ["ann%2Fa", "b"],
    ].map(([by, name]) => connected(by).reception.addressOf(name ?? ""));
    expect(new Set(addresses).size).toBe(3);
  });

  it("is neither asked nor sent anything about a scope outside its rights", async () => {
    const receivers = new Receivers();
    const { reception, asked } = connected("ann", ["session:mine/"]);
    const mover = receivers.mover()(receivers.enter("page", reception));
    const message = "`ann` has no right in scope session:s";
    await expect(mover.ready?.("session:s")).rejects.toMatchObject({ code: "permission_denied", message });
    expect(await mover.send(part)).toEqual({ type: "refused", code: "permission_denied", message });
    expect(asked).toEqual([]);
  });
});
