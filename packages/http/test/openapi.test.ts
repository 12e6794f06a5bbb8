/** The OpenAPI document: valid, as committed, and enough for a client that knows nothing else of pawl. */
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { defineTool } from "@pawl/runtime";
import { type Document, OpenAPIClientAxios } from "openapi-client-axios";
import { describe, expect, it } from "vitest";
import { openApi } from "../src/index.ts";
import { ask, everything, hostOf } from "./rig.ts";

const file = new URL("../openapi.json", import.meta.url);

const asked = defineTool<{ readonly amount: number }>({
  name: "asked",
  durable: true,
  needsApproval: true,
  inputSchema: { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] },
  execute: ({ amount }) => amount * 2,
});

describe("the OpenAPI document", () => {
  it("is valid by the schema of OpenAPI 3.1", async () => {
    expect(await new Validator().validate(structuredClone(openApi("/api")))).toMatchObject({ valid: true });
  });

  it("is the one that the package brings along (`pnpm openapi` writes it)", () => {
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(openApi());
  });

  it("is served by the handler to everybody", async () => {
    const host = await hostOf([]);
    expect(await (await ask(host, "/v1/openapi.json", { token: "" })).json()).toEqual(openApi());
  });

  it("is enough to make a client that calls, approves and reads", async () => {
    const host = await hostOf([asked]);
    const definition = (await (await ask(host, "/v1/openapi.json")).json()) as Document;
    const made = new OpenAPIClientAxios({
      definition: { ...definition, servers: [{ url: host.http }] },
      axiosConfigDefaults: { headers: { authorization: `Bearer ${host.sign(everything)}` } },
    });
    const client = await made.init();
    const operation = async (name: string, params: object | null, body?: unknown, headers = {}) => {
      const answer = await client[name]?.(params as never, body, {
        headers,
        validateStatus: () => true,
      });
      const { status, data } = answer as unknown as { status: number; data: never };
      return [status, data] as const;
    };
    const place = { session: "team-1/ann", request: "turn 1" };
    const calls = [{ id: "c", tool: "asked", args: { amount: 4 } }];
    expect(await operation("submitRequest", place, { calls })).toMatchObject([202, { status: { request: "turn 1" } }]);
    await expect.poll(() => host.runtime.awaitingApproval()).toHaveLength(1);
    const [, inbox] = await operation("listApprovals", null);
    const [{ session, approvals }] = (
      inbox as { sessions: [{ session: string; approvals: [{ call: string; hash: string }] }] }
    ).sessions;
    const [{ call, hash }] = approvals;
    expect(await operation("decideApproval", { session, call }, { decision: "approve", hash })).toEqual([204, ""]);
    const [status, done] = await operation("getRequest", place, undefined, { prefer: "wait=20" });
    expect([status, done]).toMatchObject([
      200,
      { status: { state: "done" }, replies: [{ output: { outcome: { payload: 8 } } }] },
    ]);
    expect(await operation("acknowledgeRequest", place)).toEqual([204, ""]);
    expect(await operation("getRequest", { session: "none", request: "r" })).toMatchObject([
      404,
      { code: "scope_unknown" },
    ]);
  });
});
