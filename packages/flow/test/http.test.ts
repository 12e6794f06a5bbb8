/** The http provider against a real server on loopback, which the guard allows here. */
import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { type Answer, Registry, type ToolEntry, httpProvider, isRefusedAddress, runOf } from "../src/index.ts";
import { guardedFetch } from "../src/node/index.ts";
import { runFlow } from "./cases/scope.ts";
import { type Served, bodyOf, serve } from "./server.ts";

const servers: Served[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const local = guardedFetch({ allow: (address) => address === "127.0.0.1" });
const started = async (...[listener]: Parameters<typeof serve>): Promise<string> => {
  const server = await serve(listener);
  servers.push(server);
  return server.url;
};

const ask = async (
  entry: Omit<ToolEntry, "name" | "provider">,
  more: { fetch?: typeof fetch; signal?: AbortSignal; maxBytes?: number } = {},
): Promise<Answer> => {
  const { fetch = local, signal = new AbortController().signal, ...rest } = more;
  const registry = new Registry([{ name: "T", provider: "http", ...entry }]);
  const run = runOf(registry, { http: httpProvider({ fetch, maxRedirects: 3, ...rest }) }, "T");
  if (run === undefined) throw new Error("nobody runs T");
  return run("hello", { nowMs: 0, signal });
};
const redirect = (response: ServerResponse, status: number, location: string): void => {
  response.writeHead(status, { location }).end("moved");
};

describe("the http provider", () => {
  it("28: posts the typed JSON object, and the answer's text is the output", async () => {
    const seen: unknown[] = [];
    const url = await started(async (request, response) => {
      const { method, headers } = request;
      seen.push([method, headers["content-type"], headers["x-axon-tool"], await bodyOf(request)]);
      response.end("found é");
    });
    const parameters = [
      ["n", "Int"],
      ["q", "String"],
    ] as const;
    const registry = new Registry([{ name: "Search", provider: "http", runtime: url, parameters }]);
    const named_args = [
      { name: "n", value: "9007199254740993", value_kind: "" },
      { name: "q", value: "$x", value_kind: "" },
    ];
    const { end } = await runFlow({
      nodes: [{ node_type: "use_tool", tool_name: "Search", argument: "", named_args }],
      bindings: { x: "ü" },
      registry,
      providers: { http: httpProvider({ fetch: local }) },
    });
    expect(end.bindings["Search_result"]).toBe("found é");
    expect(seen).toEqual([["POST", "application/json", "Search", '{"n":9007199254740993,"q":"ü"}']]);
  });

  it("sends a text as an input, and reports an error's status with the first 200 bytes of its body", async () => {
    const url = await started(async (request, response) => {
      response.writeHead(500).end(`${await bodyOf(request)}${"é".repeat(150)}`);
    });
    const { success, output } = await ask({ runtime: url });
    expect(success).toBe(false);
    expect(output).toBe(`HTTP 500: {"input":"hello"}${"é".repeat(91)}...`);
  });

  it("keeps the method and body over 307 and 308, and drops them over other redirects", async () => {
    const url = await started(async (request, response) => {
      if (request.url === "/kept") redirect(response, 307, "/end");
      else if (request.url === "/dropped") redirect(response, 302, "/end");
      else response.end(`${request.method} ${await bodyOf(request)}`);
    });
    expect(await ask({ runtime: `${url}/kept` })).toEqual({ success: true, output: 'POST {"input":"hello"}' });
    expect(await ask({ runtime: `${url}/dropped` })).toEqual({ success: true, output: "GET " });
  });

  it("limits the number of redirects, and checks each", async () => {
    const url = await started((request, response) => {
      if (request.url === "/metadata") redirect(response, 307, "http://169.254.169.254/latest");
      else if (request.url === "/file") redirect(response, 307, "file:///etc/passwd");
      else redirect(response, 307, "/again");
    });
    const outputAt = async (path: string): Promise<string> => (await ask({ runtime: url + path })).output;
    expect(await outputAt("/again")).toBe("HTTP tool 'T': request failed: more than 3 redirects");
    expect(await outputAt("/metadata")).toContain("request failed: 169.254.169.254 is not a public address");
    expect(await outputAt("/file")).toContain("request failed: redirect to file:///etc/passwd");
  });

  it("connects to no address of this machine by default, by number or by name", async () => {
    const url = await started((_, response) => response.end("never"));
    const fetch = guardedFetch();
    const { port } = new URL(url);
    for (const host of ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f000001"]) {
      const { success, output } = await ask({ runtime: `http://${host}:${port}` }, { fetch });
      expect([host, success, output]).toEqual([host, false, expect.stringContaining("is not a public address")]);
    }
  });

  it("times out if the answer does not begin or does not end", async () => {
    const url = await started((request, response) => {
      if (request.url === "/body") response.writeHead(200).write("begun");
    });
    for (const path of ["/", "/body"]) {
      const answer = await ask({ runtime: url + path, timeout: "60ms" });
      expect(answer).toEqual({ success: false, output: "HTTP tool 'T': request timed out after 0s" });
    }
  });

  it("limits the size of an answer", async () => {
    const url = await started((_, response) => {
      const more = (): void => {
        while (response.write("x".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    });
    const answer = await ask({ runtime: url }, { maxBytes: 100_000 });
    expect(answer.output).toBe("HTTP tool 'T': request failed: response larger than 100000 bytes");
  });

  it("reports a server that hangs up before or during its answer, and one that is not there", async () => {
    const url = await started((request, response) => {
      if (request.url === "/body")
        response.writeHead(200, { "content-length": "100" }).write("begun", () => response.destroy());
      else request.socket.destroy();
    });
    expect((await ask({ runtime: url })).output).toMatch(/^HTTP tool 'T': request failed: /);
    expect((await ask({ runtime: `${url}/body` })).output).toMatch(/^HTTP tool 'T': failed to read response body: /);
    const gone = await serve(() => undefined);
    await gone.close();
    expect((await ask({ runtime: gone.url })).output).toBe(`HTTP tool 'T': connection failed to ${gone.url}`);
  });

  it("is aborted by a cancel, and the server sees it", async () => {
    const abort = new AbortController();
    const { promise: isClosed, resolve: closed } = Promise.withResolvers<void>();
    const url = await started((request) => {
      request.socket.on("close", closed);
      abort.abort();
    });
    const { success } = await ask({ runtime: url }, { signal: abort.signal });
    expect(success).toBe(false);
    await isClosed;
  });
});

describe("addresses", () => {
  it("of this machine, private networks, cloud metadata and reserved ranges are refused", () => {
    const refused = [
      ..."127.0.0.1 127.9.9.9 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1".split(
        " ",
      ),
      ..."224.0.0.1 255.255.255.255 198.18.0.1 ::1 :: fe80::1 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1".split(" "),
      ..."::ffff:10.0.0.1 ::ffff:7f00:1 64:ff9b::7f00:1 2002:7f00:1:: fe80::1%eth0 1.2.3 1.2.3.4.5 x ::1::2".split(" "),
    ];
    expect(refused.filter((address) => !isRefusedAddress(address))).toEqual([]);
  });
  it("of the public network are accepted", () => {
    const open =
      "1.1.1.1 8.8.8.8 172.32.0.1 192.167.0.1 100.128.0.1 2606:4700::1111 ::ffff:1.1.1.1 2002:101:101::".split(" ");
    expect(open.filter(isRefusedAddress)).toEqual([]);
  });
});
