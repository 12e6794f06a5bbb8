/** Tests what nobody means to send: each answer is a problem, nothing is recorded, and the host goes on. */
import { connect } from "node:net";
import { defineTool } from "@pawl/runtime";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ask, hostOf, read } from "./rig.ts";

const echo = defineTool({ name: "echo", durable: true, execute: (args) => args });

const segment = fc.oneof(
  fc.constantFrom("v1", "sessions", "requests", "approvals", "events", "calls", "stream", "waits", "s", "r", ""),
  fc.string({ unit: "binary", maxLength: 8 }).map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom("%", "%zz", "%00", "..%2F..", "%2e%2e", "a".repeat(3000)),
);
const asked = fc.record({
  method: fc.constantFrom("GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS"),
  path: fc.array(segment, { maxLength: 8 }).map((parts) => `/v1/${parts.join("/")}`),
  query: fc.constantFrom(
    "",
    "?after=x",
    "?limit=99999999999999999999",
    "?form=log&after=-1",
    "?name=%00",
    "?status=nope",
  ),
  body: fc.option(
    fc.oneof(fc.json(), fc.string(), fc.constant("[".repeat(5000)), fc.constant('{"__proto__":{"a":1}}')),
  ),
  headers: fc.dictionary(
    fc.constantFrom("last-event-id", "prefer", "idempotency-key", "content-type", "traceparent"),
    fc.constantFrom("x", "1", "1.1", "wait=99999999999", "application/json", "text/html", "9".repeat(40)),
  ),
});

describe("a host over HTTP", () => {
  it("answers whatever it is asked with an answer of its own, and never with a failure", async () => {
    const failures: unknown[] = [];
    const host = await hostOf([echo], { log: (entry) => failures.push(entry) });
    await fc.assert(
      fc.asyncProperty(asked, async ({ method, path, query, body, headers }) => {
        const sent = method === "GET" || method === "HEAD" || body === null ? {} : { body };
        const response = await ask(host, `${path}${query}`, { method, headers, ...sent });
        expect(response.status).toBeLessThan(500);
        await response.body?.cancel();
      }),
      { numRuns: 150 },
    );
    expect(failures).toEqual([]);
  });

  it("reads no more of a body than it takes, and says so", async () => {
    const host = await hostOf([echo], { limits: { maxMessageBytes: 1000 } });
    const { port } = new URL(host.http);
    const token = host.sign({ by: "ann", scopes: [""], rights: ["call"], expires_at: 4_000_000_000_000 });
    const socket = connect(Number(port), "127.0.0.1");
    let said = "";
    socket.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => undefined); // It may be cut off while it still sends.
    socket.write(
      `POST /v1/sessions/s/requests/r HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    for (let n = 0; n < 5; n++) socket.write(`200\r\n${" ".repeat(0x200)}\r\n`);
    await closed;
    expect(said).toMatch(/^HTTP\/1\.1 413 /);
    expect(said).toContain('"code":"too_large"');
    expect((await read(ask(host, "/v1/sessions/s/requests/r")))[0]).toBe(404);
  });
});
