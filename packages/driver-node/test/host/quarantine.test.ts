/** A scope that can not be opened, asked for at its host: today's core does not accept it, or its key is gone. */
import { type Journal, memoryJournal, sealedJournal } from "@pawl/runtime";
import { describe, expect, it } from "vitest";
import { aesCodec, memoryKeys } from "../../src/index.ts";
import { clientOf, hostOf, runtimeOf } from "./rig.ts";
import { echo, payloads, use } from "./tools.ts";

type Read = Journal["read"];

/** The digest of an event of one session is another than today's core would write. */
const spoiling =
  (read: Read): Read =>
  async (scope, ...of) =>
    (await read(scope, ...of)).map(({ seq, line }) => ({
      seq,
      line: scope === "session:ill" && seq === 3 ? line.replace(/"cmds":"../, '"cmds":"zz') : line,
    }));

describe("a quarantined scope", () => {
  it("is refused as that, without a word of what it holds, and leaves others alone", async () => {
    const journal = memoryJournal();
    const spoilt = { ...journal, read: spoiling(journal.read) };
    const first = runtimeOf([echo], journal);
    await (await first.session("ill")).call("r", use("echo", { secret: "s3cret" }));
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
    expect(payloads(await client.session("well").call("r", use("echo", { n: 1 })))).toEqual([{ n: 1 }]);
  });
});

describe("a scope whose key was deleted", () => {
  it("is refused as that, and the host's log says so", async () => {
    const [journal, keys] = [memoryJournal(), memoryKeys()];
    const sealed = sealedJournal(journal, aesCodec(keys));
    const first = runtimeOf([echo], sealed);
    await (await first.session("ill")).call("r", use("echo", { secret: "s3cret" }));
    await first.close();
    await keys.remove("session:ill");
    const logged: unknown[] = [];
    const runtime = runtimeOf([echo], sealed, "i2");
    const host = await hostOf([], { runtime, log: (entry) => void logged.push(entry.name) });
    const asked = clientOf(host)
      .session("ill")
      .call("r", use("echo", { secret: "s3cret" }));
    await expect(asked).rejects.toMatchObject({ code: "key_gone", message: expect.stringContaining("no key") });
    expect(logged).toContain("host.internal_error");
    expect(
      payloads(
        await clientOf(host)
          .session("well")
          .call("r", use("echo", { n: 1 })),
      ),
    ).toEqual([{ n: 1 }]);
  });
});
