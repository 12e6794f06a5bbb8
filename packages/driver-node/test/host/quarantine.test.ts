/** Opening a scope at its host fails: the current core rejects its log, or its key is gone. */
import { type Journal, memoryJournal } from "@pawl/runtime";
import { sealedJournal } from "@pawl/runtime/driver";
import { describe, expect, it } from "vitest";
import { type ScopeKeys, aesCodec, memoryKeys } from "../../src/index.ts";
import { clientOf, hostOf, runtimeOf } from "./rig.ts";
import { echo, payloads, use } from "./tools.ts";

type Read = Journal["read"];

/** Changes the digest of an event of one session. */
const spoiling =
  (read: Read): Read =>
  async (scope, ...of) =>
    (await read(scope, ...of)).map(({ seq, line }) => ({
      seq,
      line: scope === "session:ill" && seq === 3 ? line.replace(/"cmds":"../, '"cmds":"zz') : line,
    }));

describe("a quarantined scope", () => {
  it("is refused as such, without its content, and does not affect others", async () => {
    const journal = memoryJournal();
    const spoilt = { ...journal, read: spoiling(journal.read) };
    const first = runtimeOf([echo], journal);
    await (await first.session("ill")).request("r", use("echo", { secret: "s3cret" }));
    await first.close();
    const logged: unknown[] = [];
    const host = await hostOf([], {
      runtime: runtimeOf([echo], spoilt, "i2"),
      log: (entry) => void logged.push(entry.name),
    });
    const client = clientOf(host);
    const refused: unknown = await client
      .session("ill")
      .open()
      .catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ code: "quarantined", message: expect.stringContaining("pawl doctor") });
    expect(String(refused)).not.toContain("s3cret");
    expect(logged).toContain("host.internal_error");
    expect(payloads(await client.session("well").request("r", use("echo", { n: 1 })))).toEqual([{ n: 1 }]);
  });
});

const refusalOf = async (begun: ScopeKeys, held: ScopeKeys) => {
  const journal = memoryJournal();
  const first = runtimeOf([echo], sealedJournal(journal, aesCodec(begun)));
  await (await first.session("ill")).request("r", use("echo", { secret: "s3cret" }));
  await first.close();
  if (begun === held) await begun.remove("session:ill");
  const logged: unknown[] = [];
  const runtime = runtimeOf([echo], sealedJournal(journal, aesCodec(held)), "i2");
  const client = clientOf(await hostOf([], { runtime, log: ({ name }) => void logged.push(name) }));
  const asked = client.session("ill").request("r", use("echo", { secret: "s3cret" }));
  const refused: unknown = await asked.catch((thrown: unknown) => thrown);
  const well = payloads(await client.session("well").request("r", use("echo", { n: 1 })));
  return { refused, well, isLogged: logged.includes("host.internal_error") };
};

describe("a scope with unreadable values", () => {
  it("is refused as such; it is logged if a key is missing, not if it was deleted", async () => {
    const keys = memoryKeys();
    const well = [{ n: 1 }];
    expect(await refusalOf(keys, keys)).toMatchObject({ refused: { code: "key_gone" }, well, isLogged: false });
    const foreign = await refusalOf(memoryKeys(), memoryKeys());
    expect(foreign).toMatchObject({ refused: { code: "key_missing" }, well, isLogged: true });
  });
});
