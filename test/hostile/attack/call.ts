/** Calls: too many of them, patterns and texts that make one backtrack, and executors that lie. */
import { gzipSync } from "node:zlib";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Client } from "@pawl/driver-node/client";
import { type Siege, tokenOf } from "../siege.ts";
import { type Heard, Socket } from "../socket.ts";

const callsOf = (count: number) => Array.from({ length: count }, (_, n) => ({ label: `c${n}`, tool: "echo", args: n }));

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && "code" in thrown ? thrown.code : thrown);

/** Makes thousands of calls with one frame. */
export const manyCalls = async (siege: Siege): Promise<void> => {
  const session = siege.client().session("many");
  const request = `r${siege.random.below(1e9)}`;
  const replies = await session.request(request, callsOf(10_000));
  const isRight = replies.length === 10_000 && replies.every(({ output }, n) => output.outcome.payload === n);
  siege.try(isRight ? undefined : `10,000 calls had ${replies.length} replies, or others than theirs`);
  for (const count of [10_001, 60_000]) {
    const refused = await session.request(`${request}-${count}`, callsOf(count)).catch(codeOf);
    siege.try(refused === "too_many_calls" ? undefined : `${count} calls were not refused: ${String(refused)}`);
  }
};

const slowMs = 5000;

const backtracking = ({ random }: Siege): readonly (readonly [tool: string, args: object])[] => {
  const many = 20 + random.below(3000);
  return [
    ["strict", { text: `${"a".repeat(many)}!` }],
    ["strict", { text: `${"a ".repeat(many)}!` }],
    ["grep_files", { pattern: "(a+)+$", path_pattern: `${"*a".repeat(Math.min(many, 60))}*b` }],
    ["grep_files", { pattern: "(a|a)*b", path_pattern: `${"**/".repeat(30)}*.txt` }],
    ["grep_files", { pattern: `${"(x?".repeat(50)}${")".repeat(50)}`, path_pattern: `${"?*".repeat(100)}z` }],
    ["grep_files", { pattern: "^(([a-z])+.)+[A-Z]([a-z])+$", path_pattern: "*" }],
  ];
};

/** Sends what makes a backtracking matcher take for ever. */
export const patterns = async (siege: Siege): Promise<void> => {
  const session = siege.client().session("patterns");
  const path = `/${"a".repeat(120)}/${"a".repeat(120)}.txt`;
  await session.request(`w${siege.random.below(1e9)}`, [
    { label: "c", tool: "write_file", args: { path, content: "a".repeat(20_000) } },
  ]);
  for (const [tool, args] of backtracking(siege)) {
    const begunAt = performance.now();
    const [reply] = await session.request(`p${siege.random.below(1e9)}`, [{ label: "c", tool, args: args as never }]);
    const ms = Math.round(performance.now() - begunAt);
    if (reply === undefined) siege.say(`${tool} had no reply`);
    siege.try(ms > slowMs ? `${tool} took ${ms} ms for ${JSON.stringify(args).slice(0, 200)}` : undefined);
  }
};

/** Serves bodies that are small until they are unpacked, or never end. */
const bombServer = async (siege: Siege) => {
  const zeros = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  const server = createServer((request, response) => {
    const { url } = request;
    if (url === "/zip")
      return void response.writeHead(200, { "content-encoding": "gzip", "content-type": "text/plain" }).end(zeros);
    if (url === "/deep")
      return void response.writeHead(200, { "content-type": "text/html" }).end("<div>".repeat(100_000));
    if (url === "/head")
      return void response
        .writeHead(200, Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x-${i}`, "y".repeat(20)])))
        .end();
    if (url?.startsWith("/loop") === true)
      return void response.writeHead(302, { location: `/loop${siege.random.below(1e9)}` }).end();
    response.writeHead(200, { "content-type": "text/plain" });
    const more = setInterval(() => response.write("x".repeat(65_536)), 1);
    response.once("close", () => clearInterval(more));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => (server.closeAllConnections(), server.close()) };
};

const mebibyte = 1024 * 1024;

/** Has the host fetch such bodies. */
export const bodyBombs = async (siege: Siege): Promise<void> => {
  const server = await bombServer(siege);
  const before = await siege.weight();
  const session = siege.client().session("bombs");
  const paths = ["/zip", "/deep", "/head", "/loop", "/endless"];
  await Promise.all(
    paths.map(async (path) => {
      const args = { url: server.url + path, as_markdown: siege.random.below(2) === 0 };
      const [reply] = await session.request(`b${siege.random.below(1e9)}`, [{ label: "c", tool: "fetch_local", args }]);
      siege.try(reply === undefined ? `a fetch of ${path} had no reply` : undefined);
    }),
  );
  server.close();
  const more = (await siege.weight()) - before;
  if (more > 128 * mebibyte) siege.say(`bodies that were fetched took ${Math.round(more / mebibyte)} MiB`);
};

/** Calls tools that loop for ever or eat memory, in worker threads. */
export const endlessTools = async (siege: Siege): Promise<void> => {
  const before = await siege.weight();
  const session = siege.client().session("endless");
  const tools = ["loops", "grows", "buffers"];
  const calls = tools.map((tool) => ({ label: tool, tool, args: {} }));
  for (const { tool, output } of await session.request(`e${siege.random.below(1e9)}`, calls)) {
    const said = JSON.stringify(output.outcome);
    const wanted = tool === "loops" ? "worker_time_limit" : /worker_(?:time|memory)_limit/;
    siege.try(said.search(wanted) === -1 ? `${tool} ended with ${said}` : undefined);
  }
  const more = (await siege.weight()) - before;
  if (more > 128 * mebibyte) siege.say(`bodies that were ended left ${Math.round(more / mebibyte)} MiB`);
};

/** Returns what an executor says of a run that it has, or has not. */
const lies = (offer: Heard, { random }: Siege): readonly object[] => {
  const run = {
    executor: offer["executor"],
    scope: offer["scope"],
    call: offer["call"],
    attempt: offer["attempt"],
    run: offer["run"],
  };
  const settle = {
    type: "settle",
    ...run,
    output: { outcome: { status: "success", payload: "a lie" } },
    duration_ms: 1,
  };
  const other = 2 + random.below(1000);
  return [
    { ...settle, run: other },
    { ...settle, attempt: other },
    { ...settle, attempt: 0 },
    { ...settle, run: -1 },
    { ...settle, call: `r${other}:c` },
    { ...settle, call: "__proto__" },
    { ...settle, scope: `session:none/${other}` },
    { ...settle, executor: "another" },
    { ...settle, output: { outcome: { status: "success" } } },
    { ...settle, output: { outcome: { status: "triumph", payload: "a lie" } } },
    { ...settle, output: null },
  ];
};

const askRemote = (client: Client, request: string) =>
  client.session("remote").request(request, [{ label: "c", tool: "remote", args: {} }]);

/** Lies about runs before it settles them, and after. The caller hears the one true result. */
export const lyingExecutors = async (siege: Siege): Promise<void> => {
  const socket = await Socket.greeted(siege.url, tokenOf({ by: "eve" }));
  if (socket === undefined) return siege.say("a client with a token was not welcomed");
  await socket.ask({ type: "execute", id: 1_000_000, executor: "e", tools: ["tool:remote"] });
  const client = siege.client();
  for (let round = 0; round < 10; round += 1) {
    const request = `r${siege.random.below(1e9)}`;
    const replied = askRemote(client, request);
    replied.catch(() => undefined); // Told below, unless the round ends before.
    const offer = await socket.until((said) => said.type === "offer" && said["call"] === `${request}:c`);
    if (offer === undefined) return siege.say("an executor was offered nothing");
    let id = round * 1000;
    const told = lies(offer, siege).map((lie) => ({ ...lie, id: (id += 1) }));
    for (const lie of told) {
      socket.send(lie);
      siege.try();
    }
    const { executor, scope, call, attempt, run } = offer;
    const settle = { type: "settle", executor, scope, call, attempt, run, duration_ms: 1 };
    const truth = { outcome: { status: "success", payload: `truth ${round}` } };
    await socket.ask({ ...settle, id: (id += 1), output: truth });
    for (const payload of ["later", `truth ${round}`]) {
      await socket.ask({ ...settle, id: (id += 1), output: { outcome: { status: "success", payload } } });
      siege.try();
    }
    const [reply] = await replied;
    const said = JSON.stringify(reply?.output.outcome);
    if (reply?.output.outcome.payload !== `truth ${round}`) siege.say(`a caller heard ${said}`);
    const taken = socket.heard.filter((heard) => heard.type === "settled" && heard["outcome"] === "settled");
    for (const lie of told)
      if (taken.some((heard) => heard.id === lie.id)) siege.say(`a lie was taken: ${JSON.stringify(lie)}`);
  }
  socket.reset();
};
