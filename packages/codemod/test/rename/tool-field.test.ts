import { describe, expect, it } from "vitest";
import { toolField } from "../../src/rename/tool-field.ts";
import { notesOf, rewritten } from "./frame.ts";

/** Rewrites the fields of one tool. */
const after = (fields: string): string =>
  rewritten(toolField, `defineTool({ ${fields} });`).slice("defineTool({ ".length, -" });".length);

describe("the fields of a tool", () => {
  it("have other names", () => {
    expect(after('display_name: "Pay", scheduling: "serial", divergence: "fail"')).toBe(
      'title: "Pay", concurrency: "serial", onDivergence: "fail"',
    );
  });

  it("say whether a person has to approve, and until when", () => {
    expect(after('name, policy: "requires_approval", durable: true')).toBe("name, needsApproval: true, durable: true");
    expect(after('policy: "requires_approval", approval_ms: 60 * 1000, durable: true')).toBe(
      "needsApproval: { expiresInMs: 60 * 1000 }, durable: true",
    );
    expect(after('policy: "client_side", durable: true')).toBe("clientSide: true, durable: true");
    expect(after('policy: "auto", durable: true')).toBe("durable: true");
  });

  it("say how a call is retried", () => {
    const terms = "max_attempts: 3, base_delay_ms: 100, max_delay_ms: 0";
    const now = "attempts: 3, firstDelayMs: 100, maxDelayMs: 0";
    expect(after(`retry_policy: { type: "safe", ${terms} }`)).toBe(`retry: { ${now} }`);
    expect(after(`retry_policy: { type: "idempotent", ${terms} }`)).toBe(`retry: { idempotent: true, ${now} }`);
    expect(after('retry_policy: { type: "never" }, durable')).toBe("durable");
    expect(
      rewritten(toolField, `const retry_policy = { ${terms}, type: "safe" } as const;\ndefineTool({ retry_policy });`),
    ).toBe(`const retry_policy = { ${now} } as const;\ndefineTool({ retry: retry_policy });`);
  });

  it("have the hints that pawl acts on, and hand on the others", () => {
    expect(after("hints: { readonly: true, idempotent }, durable")).toBe("readOnly: true, idempotent, durable");
    expect(after("hints: { supports_background: true, idempotent: true }, background")).toBe(
      "idempotent: true, background",
    );
    expect(after('hints: { supports_background: true }, deferrable: "never", durable')).toBe(
      'manifest: { hints: { supports_background: true }, deferrable: "never" }, durable',
    );
    expect(after("hints: { ...hints, idempotent: true }")).toBe("manifest: { hints: { ...hints, idempotent: true } }");
    expect(after("durable, bindings: {}, examples: [],\n")).toMatch(
      /^durable, manifest: \{ bindings: \{\}, examples: \[\] \},\s*$/,
    );
    expect(after("bindings: { a: 1 }, examples, durable")).toBe("manifest: { bindings: { a: 1 }, examples }, durable");
  });

  it("are noted where they are not written out", () => {
    const program = "defineTool({ policy: policyOf(name) });";
    expect(rewritten(toolField, program)).toBe(
      'defineTool({ needsApproval: { when: policyOf(name) === "requires_approval" } });',
    );
    expect(notesOf(toolField, program)).toEqual([expect.stringContaining("1: `policy` is not written out here")]);
    expect(notesOf(toolField, "defineTool({ retry_policy: retries });")).toEqual([
      expect.stringContaining("write `retry: {"),
    ]);
  });

  it("of the core's own tools and of manifests on the wire stay as they are", () => {
    const others = `
const wire = { policy: "requires_approval", hints: { readonly: true }, display_name: "Pay" };
Rig.open([tool("pay", { retry_policy: { type: "never" }, scheduling: "serial" })]);`;
    expect(rewritten(toolField, others)).toBe(others);
  });
});
