import { modelPartsFromOutput, pending } from "@pawl/tool-value";
import { describe, expect, it } from "vitest";
import {
  type InternalErrorDetail,
  connectionRequired,
  defineTool,
  internalError,
  success,
  successWithImages,
  toolError,
} from "../../src/index.ts";
import { type RawOutput, successWithRawOutput } from "../../src/driver.ts";
import { causeChain, memoryAttachments, registryReply, withoutRawOutput } from "../../src/driver.ts";
import type { BodyRun } from "../../src/body/body-run.ts";
import type { CallFacts } from "../../src/body/facet/facet.ts";
import { bodyResult } from "../../src/body/run-tool.ts";
import { World } from "../world.ts";

const call = [{ label: "c", tool: "t", args: {} }];
const run = async (returned: () => unknown, host: object = {}) => {
  const tool = defineTool({ name: "t", execute: returned });
  const session = await new World().start([tool], { host }).runtime.session("s");
  const [reply] = await session.request("r", call);
  if (reply === undefined) throw new Error("no reply");
  return reply.output;
};

describe("what a body returns", () => {
  it("is a success without its raw output, which goes to the host alone", async () => {
    const kept: RawOutput[] = [];
    const output = await run(() => successWithRawOutput("short", "all of it"), {
      rawOutput: async (raw: RawOutput) => void kept.push(raw),
    });
    expect(output.outcome).toEqual({ status: "success", payload: "short" });
    expect(kept).toMatchObject([{ scope: "session:s", call: "r:c", tool: "t", text: "all of it" }]);
  });

  it("may have images, whose bytes are stored before anything names them", async () => {
    const attachments = memoryAttachments();
    const output = await run(() => successWithImages({ ok: true }, [{ base64: "aGk=", media_type: "image/jpg" }]), {
      attachments,
    });
    const parts = modelPartsFromOutput(output);
    const id = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4";
    expect(parts[1]).toEqual({
      type: "attachment",
      id,
      media_type: { kind: "image", type: "jpeg" },
      byte_len: 2,
    });
    expect(new TextDecoder().decode(await attachments.bytes(id))).toBe("hi");
  });

  it("may be an error for the model, or one that is hidden from it and logged in full", async () => {
    expect((await run(() => toolError("no such file"))).outcome).toMatchObject({
      payload: { class: "execution", code: "tool_error", message: "no such file", source: "tool" },
    });
    const logged: InternalErrorDetail[] = [];
    const cause = new Error("disk", { cause: new Error("disk", { cause: new Error("sector 7") }) });
    const output = await run(() => internalError(new Error("secret", { cause })), {
      internalError: (_: string, __: unknown, detail: InternalErrorDetail) => void logged.push(detail),
    });
    expect(output.outcome).toEqual({
      status: "failure",
      payload: {
        class: "internal",
        code: "tool_internal_error",
        message: "An internal error occurred while executing the tool",
        source: "runtime",
        retry: { type: "never" },
      },
    });
    expect(logged).toEqual([{ scope: "session:s", tool: "t", callId: "c", message: "secret: disk: sector 7" }]);
  });

  it("says that it needs a connection, where the host answers none", async () => {
    expect((await run(() => connectionRequired("github"))).outcome).toEqual({
      status: "success",
      payload: { connection_required: "github" },
    });
  });

  it("may not be pending where nobody was given the key that completes it", async () => {
    expect((await run(() => pending())).outcome).toMatchObject({
      status: "failure",
      payload: {
        class: "internal",
        code: "pending_tool_missing_completion_key",
        message: "tool returned Pending without first obtaining a completion key",
        source: "runtime",
      },
    });
  });

  it("may not be pending where the key can not be made, in whatever run", () => {
    const body = { id: { call: "r:c", attempt: 2, run: 1 }, hasCompletionKey: false } as BodyRun;
    const result = bodyResult(body, { executionScope: " ", name: "c" } as CallFacts, pending());
    expect(result).toMatchObject({
      type: "done",
      output: {
        outcome: {
          payload: {
            class: "internal",
            code: "pending_tool_completion_key_failed",
            message: "missing_execution_scope_id: execution scopes require non-empty stable ids",
          },
        },
      },
    });
  });

  it("may not be pending before it ran", async () => {
    const tool = defineTool({ name: "t", prepare: () => pending(), execute: () => 1 });
    const session = await new World().start([tool]).runtime.session("s");
    const [reply] = await session.request("r", call);
    expect(reply?.output.outcome.payload).toMatchObject({ class: "internal", code: "pending_tool_not_finalized" });
  });
});

describe("the reply of a registry", () => {
  it("has result and error always, and the rest where there is some", () => {
    expect(registryReply("c", success({ value: 42 }))).toEqual({
      json: { tool_call_id: "c", result: { value: 42 }, error: null },
    });
    expect(registryReply("c", successWithRawOutput("x", ""))).toEqual({
      json: { tool_call_id: "c", result: "x", error: null },
      rawOutput: "",
    });
    expect(registryReply("c", successWithImages({ _raw_output: "leaks" }, []))).toEqual({
      json: { tool_call_id: "c", result: { _raw_output: "leaks" }, error: null },
    });
    expect(registryReply("c", connectionRequired("p")).json).toEqual({
      tool_call_id: "c",
      result: { connection_required: "p" },
      error: null,
      connection_required: "p",
    });
    expect(registryReply("c", internalError("Secret")).json["error"]).not.toContain("Secret");
  });

  it("takes a carrier apart, and leaves what only looks like one", () => {
    expect(withoutRawOutput({ _raw_output_scalar: "v" })).toEqual({ value: { _raw_output_scalar: "v" } });
    expect(withoutRawOutput({ _raw_output: 5, x: 1 })).toEqual({ value: { x: 1 } });
    expect(withoutRawOutput({ _raw_output_scalar: 1, _raw_output: "r" })).toEqual({ value: 1, rawOutput: "r" });
    expect(withoutRawOutput({ _raw_output_scalar: 1, x: 2, _raw_output: "r" })).toEqual({
      value: { _raw_output_scalar: 1, x: 2 },
      rawOutput: "r",
    });
  });

  it("ends the chain of causes that goes round in a circle", () => {
    const error = new Error("a");
    error.cause = new Error("b", { cause: error });
    expect(causeChain(error)).toBe("a: b");
  });
});
