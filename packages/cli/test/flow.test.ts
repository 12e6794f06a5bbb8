/** `pawl flow`: flows on the command line. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newFolder } from "./fixture.ts";
import { jsonIn, pawl } from "./pawl.ts";

const folder = newFolder();
const written = (name: string, json: unknown): string => {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(json));
  return file;
};

const use = (tool_name: string, argument: string) => ({ node_type: "use_tool", tool_name, argument });
const bill = written("bill.json", {
  name: "Bill",
  nodes: [use("Calculator", "${net} * 1.2"), { node_type: "return", value_expr: "${Calculator_result} for ${who}" }],
});

describe("pawl flow check", () => {
  it("accepts a flow that can run", async () => {
    const { code, out } = await pawl(["flow", "check", bill]);
    expect([code, out]).toEqual([0, `ok  ${bill}  Bill, 2 nodes at the top\n`]);
  });

  it("names the node and the path of each error, for each file", async () => {
    const untyped = written("untyped.json", {
      name: "F",
      nodes: [{ node_type: "for_in", variable: 1, iterable: "x" }],
    });
    const unbuilt = written("unbuilt.json", { name: "F", nodes: [{ node_type: "remember" }] });
    const said = await pawl(["flow", "check", bill, untyped, unbuilt, "--json"]);
    expect(said.code).toBe(1);
    const [fine, first, second] = jsonIn(said);
    expect(fine).toMatchObject({ ok: true });
    expect(first).toMatchObject({
      ok: false,
      error: { code: "flow_invalid", message: expect.stringContaining("nodes[0].variable") as unknown },
    });
    expect(second).toMatchObject({
      ok: false,
      error: { message: expect.stringMatching(/nodes\[0\].*remember/) as unknown },
    });
    expect((await pawl(["flow", "check", join(folder, "missing.json")])).code).toBe(3);
  });
});

describe("pawl flow run", () => {
  it("prints each step, and the result", async () => {
    const pieces: string[] = [];
    const args = ["flow", "run", bill, "--bind", "net=100", "-b", "who=Ann=and=Bob"];
    const { code, out } = await pawl(args, { onOut: (text) => void pieces.push(text) });
    expect(code).toBe(0);
    expect(out).toContain("ok Calculator: 120");
    expect(out.trimEnd().split("\n").at(-1)).toBe("120 for Ann=and=Bob");
    expect(pieces.length).toBeGreaterThan(3);
  });

  it("prints each event as JSON for a script", async () => {
    const said = await pawl(["flow", "run", bill, "--bind", "net=1", "--bind", "who=x", "--json"]);
    const lines = jsonIn(said);
    expect(lines.map(({ kind }) => kind)).toEqual([
      "flow_start",
      "step_start",
      "step_complete",
      "flow_complete",
      undefined,
    ]);
    expect(lines.at(-1)).toMatchObject({ ending: { type: "returned", value: "1.2 for x" }, steps_executed: 2 });
  });

  it("exits with 1 if the flow failed, and with 2 for a wrong binding", async () => {
    const odd = written("odd.json", { name: "Odd", nodes: [use("Nobody", "x")] });
    expect((await pawl(["flow", "run", odd])).code).toBe(0);
    const strict = await pawl(["flow", "run", odd, "--strict"]);
    expect([strict.code, strict.out]).toEqual([1, expect.stringContaining("MissingDependency")]);
    expect((await pawl(["flow", "run", bill, "--bind", "net"])).code).toBe(2);
    expect((await pawl(["flow", "run", written("no.json", { name: "F" })])).code).toBe(1);
  });

  it("calls the tools that a file declares, if their address is allowed", async () => {
    const server = createServer(({ url }, response) => response.end(url === "/tools/Price" ? "8" : "7"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const tools = written("tools.json", [
      { name: "Price", provider: "http", runtime: url, parameters: [["item", "String"]] },
    ]);
    const ask = written("ask.json", { name: "Ask", nodes: [use("Price", "tea")] });
    try {
      const refused = await pawl(["flow", "run", ask, "--tools", tools]);
      expect(refused.out).toContain("failed Price");
      const allowed = await pawl(["flow", "run", ask, "--tools", tools, "--allow", "127.0.0.1"]);
      expect(allowed.out).toContain("ok Price: 7");
      const bare = written("bare.json", [{ name: "Price", provider: "http" }]);
      const based = await pawl([
        "flow",
        "run",
        ask,
        "--tools",
        bare,
        "--allow",
        "127.0.0.1",
        "--base",
        `${url}/tools/`,
      ]);
      expect(based.out).toContain("ok Price: 8");
    } finally {
      server.closeAllConnections();
      server.close();
    }
    const incomplete = written("incomplete.json", [{ name: "Price" }]);
    const said = await pawl(["flow", "run", ask, "--tools", incomplete, "--json"]);
    expect([said.code, said.out]).toEqual([1, expect.stringContaining("tools_invalid")]);
  });

  it("returns the result of an earlier run under the same id", async () => {
    const journal = join(folder, "journal.db");
    const args = ["flow", "run", bill, "--bind", "net=5", "--bind", "who=x", "-j", journal, "--id", "bill-1", "--json"];
    const first = jsonIn(await pawl(args)).at(-1);
    const again = jsonIn(await pawl(args));
    expect(again).toEqual([first]);
    const other = await pawl([...args, "--bind", "net=6"]);
    expect([other.code, other.out]).toEqual([4, expect.stringContaining("request_conflict")]);
    expect(readFileSync(journal).length).toBeGreaterThan(0);
  });

  it("is explained with examples", async () => {
    for (const command of ["flow run", "flow check"]) {
      const { code, out } = await pawl(["help", ...command.split(" ")]);
      expect([code, out]).toEqual([0, expect.stringContaining(`pawl ${command} bill.json`)]);
    }
  });
});
