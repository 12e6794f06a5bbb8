/** Fetching from real servers on loopback, which the guard allows here. */
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "@pawl/tool-value";
import { MemoryFiles, defaultRegistry, webFetch } from "@pawl/tools";
import { type WebOptions, nodeWeb } from "@pawl/tools/node";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server; resolves with its port. */
const served = async (listener: Listener): Promise<number> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
};

const allow = (address: string): boolean => address === "127.0.0.1";
const patient = { allow, firstByteMs: 5000 };

/** Returns the result of the tool, or the text of its error. */
const fetched = async (args: JsonObject, options: WebOptions = patient): Promise<JsonObject | string> => {
  const call = { id: "c", name: "web_fetch", arguments: args };
  const done = await defaultRegistry(nodeWeb(options)).execute(call, { session_id: "s" });
  if (!("right" in done)) throw new Error(done.left);
  const { result, error } = done.right.json;
  return typeof error === "string" ? error : (result as JsonObject);
};
const at = async (listener: Listener): Promise<string> => `http://127.0.0.1:${await served(listener)}`;
const answering =
  (body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): Listener =>
  (_, response) =>
    void response.writeHead(200, headers).end(body);
const html = { "content-type": "text/html; charset=utf-8" };

describe("a fetch", () => {
  it("returns text and JSON unchanged, also of an error, with metadata from the head", async () => {
    const modified = "Wed, 21 Oct 2015 07:28:00 GMT";
    const url = await at((request, response) => {
      const json = { "content-type": "application/json", "last-modified": modified };
      response.writeHead(request.url === "/gone.json" ? 410 : 200, json).end('{"a":1}');
    });
    const said = {
      content_type: "application/json",
      last_modified: modified,
      size: 7,
      format: "raw",
      content: '{"a":1}',
    };
    expect(await fetched({ url: `${url}/a`, as_markdown: true })).toEqual({
      url: `${url}/a`,
      status_code: 200,
      ...said,
    });
    const gone = { url: `${url}/gone.json`, status_code: 410, filename: "gone.json", ...said };
    expect(await fetched({ url: ` ${url}/gone.json#part ` })).toEqual(gone);
  });

  it("returns a page unchanged, as Markdown, or as text", async () => {
    const page =
      "<!doctype html><title>T</title><style>p{}</style><h1>Ü</h1><p>a <b>b</b> <a href='/x'>l</a></p>" +
      "<table><tr><th>x<th>y<tr><td>1<td>a|b</table><ul><li>one<li>two</ul><script>evil()</script>";
    const url = await at(answering(page, html));
    expect(await fetched({ url })).toMatchObject({ format: "raw", content: page });
    const { format, content } = (await fetched({ url, as_markdown: true, as_text: true })) as JsonObject;
    expect([format, content]).toEqual([
      "markdown",
      "# Ü\n\na **b** [l](/x)\n\n| x | y |\n| --- | --- |\n| 1 | a\\|b |\n\n-   one\n-   two",
    ]);
    const text = (await fetched({ url, as_text: true })) as JsonObject;
    expect([text["format"], text["content"]]).toEqual(["text", "Ü\n\na b l\n\nx y\n1 a|b\n\none\ntwo"]);
  });

  it("by HEAD returns no body", async () => {
    const seen: (string | undefined)[] = [];
    const url = await at((request, response) => {
      seen.push(request.method);
      response.writeHead(200, {
        ...html,
        "content-length": "99",
        "content-disposition": 'attachment; filename="../a b.txt"',
      });
      response.end();
    });
    const told = {
      url: `${url}/`,
      status_code: 200,
      content_type: html["content-type"],
      size: 99,
      filename: "a b.txt",
      method: "HEAD",
    };
    expect(await fetched({ url, method: "head" })).toEqual(told);
    expect(seen).toEqual(["HEAD"]);
  });

  it("reports binary content without showing it, whatever type the server declares", async () => {
    const error = "Binary content is not supported. Only textual content (HTML, text, JSON, etc.) can be fetched.";
    const png = await at(answering(new Uint8Array(20), { "content-type": "image/png" }));
    expect(await fetched({ url: `${png}/a.png` })).toEqual({
      url: `${png}/a.png`,
      status_code: 200,
      content_type: "image/png",
      filename: "a.png",
      error,
    });
    for (const headers of [html, {}]) {
      const result = (await fetched({ url: await at(answering(new Uint8Array([65, 0, 66]), headers)) })) as JsonObject;
      expect([result["error"], Object.hasOwn(result, "content")]).toEqual([error, false]);
    }
  });

  it("decodes a body by its byte order mark, its header, its own declaration, or as UTF-8", async () => {
    const bodies: readonly (readonly [Uint8Array, Readonly<Record<string, string>>, string])[] = [
      [Buffer.from("\ufeffé", "utf16le"), { "content-type": "text/plain" }, "é"],
      [Buffer.from([0xe9]), { "content-type": "text/plain; charset=iso-8859-1" }, "é"],
      [Buffer.from([0xcf, 0xf0]), { "content-type": 'text/plain; charset="windows-1251"' }, "Пр"],
      [
        Buffer.from('<meta charset="koi8-r">\xf0', "latin1"),
        { "content-type": "text/html" },
        '<meta charset="koi8-r">П',
      ],
      [Buffer.from("é"), { "content-type": "text/plain; charset=nonsense" }, "é"],
      [Buffer.from("é\xff"), {}, "éÿ"],
    ];
    for (const [body, headers, content] of bodies) {
      expect(await fetched({ url: await at(answering(body, headers)) })).toMatchObject({ content });
    }
  });

  it("decompresses a body", async () => {
    const packed = { gzip: gzipSync("gzip"), deflate: deflateSync("deflate"), br: brotliCompressSync("br") };
    for (const [encoding, body] of Object.entries(packed)) {
      const url = await at(answering(body, { "content-type": "text/plain", "content-encoding": encoding }));
      expect(await fetched({ url })).toMatchObject({ content: encoding, size: encoding.length });
    }
    const odd = await at(answering("x", { "content-encoding": "x-odd" }));
    expect(await fetched({ url: odd })).toBe('Fetch error: the content encoding "x-odd" is not supported');
    const broken = await at(answering("no gzip", { "content-encoding": "gzip" }));
    expect(await fetched({ url: broken })).toBe("Fetch error: incorrect header check");
  });
});

describe("limits", () => {
  it("cut a body that is too long, and stop a decompression bomb", async () => {
    let written = 0;
    const endless = await at((_, response) => {
      response.on("drain", () => {
        while (response.write("x".repeat(65_536))) written += 65_536;
      });
      while (response.write("x".repeat(65_536))) written += 65_536;
    });
    const cut = (await fetched({ url: endless }, { ...patient, maxBytes: 100_000 })) as JsonObject;
    expect([cut["truncated"], String(cut["content"]).length]).toEqual([true, 100_000]);
    expect(written).toBeLessThan(50_000_000);
    const bomb = gzipSync(Buffer.alloc(200_000_000, 65), { level: 9 });
    const packed = { "content-type": "text/plain", "content-encoding": "gzip" };
    const before = process.memoryUsage().rss;
    const bombed = (await fetched(
      { url: await at(answering(bomb, packed)) },
      { ...patient, maxBytes: 1000 },
    )) as JsonObject;
    expect([bombed["truncated"], String(bombed["content"]).length]).toEqual([true, 1000]);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it("give up a server that does not answer, and keep the part of a body that does not end", async () => {
    const url = await at((request, response) => {
      if (request.url === "/slow") response.writeHead(200, { "content-type": "text/plain" }).write("begun");
    });
    const none = await fetched({ url }, { allow, firstByteMs: 50 });
    expect(none).toBe("Request timed out: server did not respond within 1 second");
    const part = await fetched({ url: `${url}/slow` }, { ...patient, bodyMs: 200 });
    expect(part).toMatchObject({ content: "begun\n\n[..more content timed out...]", truncated: true });
  });

  it("report a connection that breaks before or during the answer, and one that cannot be made", async () => {
    const url = await at((request, response) => {
      if (request.url === "/") request.socket.destroy();
      else response.writeHead(200, { "content-length": "100" }).write("begun", () => request.socket.destroy());
    });
    expect(await fetched({ url })).toBe("Request failed: the server closed the connection before it answered");
    const middle = "Fetch error: the server closed the connection before the end of the body";
    expect(await fetched({ url: `${url}/middle` })).toBe(middle);
    await closing.pop()?.();
    expect(await fetched({ url })).toBe("Failed to connect to server");
    const nowhere = { ...patient, resolve: async () => [] };
    expect(await fetched({ url: "http://nowhere.test" }, nowhere)).toBe("Failed to connect to server");
  });

  it("show a page unchanged if its conversion takes too long or nests too deep", async () => {
    const deep = `${"<b>".repeat(30_000)}x`;
    const url = await at(answering(deep, html));
    const result = (await fetched({ url, as_markdown: true })) as JsonObject;
    expect([result["format"], result["content"]]).toEqual(["raw", deep]);
    expect(result["error"]).toMatch(/^The page could not be converted to markdown: /);
    const hurried = (await fetched({ url, as_text: true }, { ...patient, convertMs: 1 })) as JsonObject;
    expect(hurried["error"]).toBe("The page could not be converted to text: it took more than 1 ms");
  });
});

const blocked = "URL is blocked by policy";

describe("the guard", () => {
  it("blocks this machine by default, however its address is written", async () => {
    let asked = 0;
    const port = await served((_, response) => void response.end(String((asked += 1))));
    const hosts = [
      "127.0.0.1",
      "localhost",
      "LOCALHOST",
      "127.1",
      "2130706433",
      "0x7f000001",
      "0x7f.1",
      "017700000001",
    ];
    hosts.push("0177.0.0.1", "0", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]");
    hosts.push("[2002:7f00:1::]", "127。0。0。1", "①27.0.0.1", "%31%32%37.0.0.1", "[::127.0.0.1]");
    for (const host of hosts)
      expect([host, await fetched({ url: `http://${host}:${port}` }, { firstByteMs: 5000 })]).toEqual([host, blocked]);
    expect(asked).toBe(0);
  });

  it("refuses other schemes, user names and passwords, and metadata services by name", async () => {
    const port = await served(answering("never"));
    for (const url of [
      `http://u:p@127.0.0.1:${port}`,
      `http://u@127.0.0.1:${port}`,
      "http://METADATA.google.internal./x",
    ]) {
      expect([url, await fetched({ url }, { allow: () => true, firstByteMs: 5000 })]).toEqual([url, blocked]);
    }
    for (const url of ["ftp://127.0.0.1", "file:///etc/passwd", "gopher://x", "//127.0.0.1"]) {
      expect(await fetched({ url })).toBe("Invalid URL: must start with http:// or https://");
    }
    expect(await fetched({ url: "http://[::1" })).toBe('Request failed: "http://[::1" cannot be read as a URL');
  });

  it("checks the target, the scheme and the number of redirects", async () => {
    const url = await at((request, response) => {
      const to: Readonly<Record<string, string>> = {
        "/metadata": "http://169.254.169.254/latest/meta-data",
        "/private": "http://[fd00:ec2::254]/",
        "/file": "file:///etc/passwd",
        "/login": "http://u:p@127.0.0.1/",
        "/chain": "/chain2",
        "/chain2": "./end",
        "/odd": "http://[",
      };
      const location = request.url === "/end" ? undefined : (to[request.url ?? ""] ?? "/again");
      if (location === undefined) response.writeHead(200, { "content-type": "text/plain" }).end("there");
      else response.writeHead(302, { location }).end("moved");
    });
    for (const path of ["/metadata", "/private", "/file", "/login"])
      expect(await fetched({ url: url + path })).toBe(blocked);
    expect(await fetched({ url: `${url}/chain` })).toMatchObject({ url: `${url}/end`, content: "there" });
    expect(await fetched({ url: `${url}/again` })).toBe("Request failed: more than 10 redirects");
    expect(await fetched({ url: `${url}/odd` })).toBe('Request failed: "http://[" cannot be read as a URL');
  });

  it("connects to the address that it checked: a name is resolved once", async () => {
    const port = await served(answering("public", { "content-type": "text/plain" }));
    const answers = [["127.0.0.1"], ["10.0.0.1"]];
    const asked: string[] = [];
    const resolve = async (host: string): Promise<readonly string[]> => {
      asked.push(host);
      return answers.shift() ?? [];
    };
    const options = { ...patient, resolve };
    expect(await fetched({ url: `http://rebind.test:${port}` }, options)).toMatchObject({ content: "public" });
    expect(asked).toEqual(["rebind.test"]);
    expect(await fetched({ url: `http://rebind.test:${port}` }, options)).toBe(blocked);
  });

  it("refuses a name if one of its addresses is refused", async () => {
    for (const addresses of [["127.0.0.1", "10.0.0.1"], ["fe80::1%eth0"], ["nonsense"]]) {
      expect(await fetched({ url: "http://mixed.test" }, { ...patient, resolve: async () => addresses })).toBe(blocked);
    }
  });
});

const saved = async (body: Uint8Array, how: { fileDownload?: boolean; files?: MemoryFiles }, path = "in/b.bin") => {
  const url = await at(answering(body, { "content-type": "application/octet-stream" }));
  const tool = webFetch(nodeWeb(patient), how);
  const context = how.files === undefined ? { session_id: "s" } : { session_id: "s", files: how.files };
  return tool.execute({ url: `${url}/b.bin`, save_to_file: path }, context);
};

describe("a saved response", () => {
  const bytes = new Uint8Array([0, 1, 2, 255]);

  it("of any type is stored in the session's files and not returned", async () => {
    const files = new MemoryFiles();
    const said = await saved(bytes, { fileDownload: true, files });
    expect(said).toMatchObject({ value: { saved_path: "/workspace/in/b.bin", bytes_written: 4, status_code: 200 } });
    expect(said).not.toHaveProperty("value.content");
    expect((await files.read("in/b.bin"))?.bytes).toEqual(bytes);
  });

  it("needs permission, and a file store", async () => {
    expect(Object.keys(webFetch().parameters["properties"] as object)).not.toContain("save_to_file");
    expect(await saved(bytes, {})).toMatchObject({ message: "File saving not available" });
    expect(await saved(bytes, { fileDownload: true })).toMatchObject({
      message: "File system not available in this context",
    });
    expect(await saved(bytes, { fileDownload: true, files: new MemoryFiles() }, "../b")).toMatchObject({
      message: expect.stringContaining("Failed to save file: Invalid path"),
    });
    const url = await at(answering("text"));
    const alone = await webFetch(nodeWeb(patient), { fileDownload: true }).execute(
      { url, save_to_file: "a" },
      undefined,
    );
    expect(alone).toMatchObject({ value: { content: "text" } });
  });
});
