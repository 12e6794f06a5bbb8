/** Calculator, clock, addresses, declarations and envelopes, beyond the given cases. */
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import * as f from "../src/index.ts";

const value = (expression: string): string => f.calculate(expression).output;

describe("the calculator", () => {
  it("binds signs tighter than powers, and powers from the right", () => {
    const expressions = ["-2 ** 2", "2 ** 3 ** 2", "2 ** -1", "- - 3 * 2", "7 % -4", "-7 % 4", "2*3**2", "+.5+5."];
    expect(expressions.map(value)).toEqual(["4", "512", "0.5", "6", "3", "-3", "18", "5.5"]);
  });
  it("knows its names, and reports an unknown one", () => {
    expect(value("max(min(2, 3), sqrt(16)) + pow(2, 10) + abs(-1) + tau * 0 + log2(8)")).toBe("1032");
    expect(value(" PI ")).toBe("3.141592653589793");
    expect(["sqrt()", "Sqrt(1)", "_x", "x_1"].map(value)).toEqual([
      "Calculator error: Unknown function: 'sqrt' with 0 args",
      "Calculator error: Unknown function: 'Sqrt' with 1 args",
      "Calculator error: Unexpected character at position 0",
      "Calculator error: Unknown identifier: 'x_1'",
    ]);
  });
  it("never calls a constant: parentheses after it are trailing characters", () => {
    expect(["pi(1)", "2 * e ()", "inf(1/0)", "max(TAU(1), 2)", "(E(1"].map(value)).toEqual([
      "Calculator error: Unexpected trailing characters at position 2",
      "Calculator error: Unexpected trailing characters at position 6",
      "Calculator error: Unexpected trailing characters at position 3",
      "Calculator error: Missing ')' after max(...)",
      "Calculator error: Missing closing parenthesis",
    ]);
  });
  it("calculates to the last digit, as MPFR does", () => {
    const expressions = ["ln(3)", "exp(1)", "sin(1e22)", "log(1000)", "2 ** 0.5", "atan2(-1, -1)", "10 ** 1e18"];
    expect(expressions.map(value)).toEqual([
      "1.0986122886681098",
      "2.718281828459045",
      "-0.8522008497671888",
      "3",
      "1.4142135623730951",
      "-2.356194490192345",
      "inf",
    ]);
  });
  it("counts positions in bytes", () => {
    expect(["(1", "sqrt(1", "1 +", "1 2", "1 + é", "5 % 0", "1.2.3", "", "2 ^ 3"].map(value)).toEqual([
      "Calculator error: Missing closing parenthesis",
      "Calculator error: Missing ')' after sqrt(...)",
      "Calculator error: Unexpected character at position 3",
      "Calculator error: Unexpected trailing characters at position 2",
      "Calculator error: Unexpected character at position 4",
      "Calculator error: Modulo by zero",
      "Calculator error: Invalid number: '1.2.3'",
      "Empty expression",
      "Calculator error: Unexpected trailing characters at position 2",
    ]);
    expect(value("-inf")).toBe("-inf");
    expect(value("0.49999999999999994 * 0 + round(0.49999999999999994)")).toBe("0");
  });
  it("never throws, however deep or odd the text is", () => {
    expect(value(`${"(".repeat(100_000)}1`)).toBe("Calculator error: Nested deeper than 256");
    expect(value(`${"-".repeat(100_001)}1`)).toBe("-1");
    const text = fc.string({ unit: fc.constantFrom(..."0123.e+-*/%() ,pisqrtmax_é".split("")), maxLength: 30 });
    fc.assert(
      fc.property(text, (expression) => f.calculate(expression).output !== ""),
      { numRuns: 2000 },
    );
  });
});

const ask = (query: string): string => f.answerDateTime(query, Date.UTC(2024, 1, 3, 4, 5, 6)).output;

describe("the clock", () => {
  it("answers in UTC, without padding but in dates", () => {
    const queries = ["now", "iso", "date", "Time", "unix", "day", "hour", "weekday"];
    const time = "2024-02-03T04:05:06Z";
    expect(queries.map(ask)).toEqual([time, time, "2024-02-03", "04:05:06Z", "1706933106", "3", "4", "Saturday"]);
    expect(ask(" When? ")).toMatch(/^Unknown query 'when\?'\. Supported: now, /);
  });
  it("writes years of more than four digits as they are, and shorter ones with zeros", () => {
    const at = Date.UTC(12_345, 1, 3, 4, 5, 6);
    const answers = ["now", "today", "time", "year"].map((query) => f.answerDateTime(query, at).output);
    expect(answers).toEqual(["12345-02-03T04:05:06Z", "12345-02-03", "04:05:06Z", "12345"]);
    expect(f.answerDateTime("today", Date.UTC(987, 10, 30)).output).toBe("0987-11-30");
  });
});

describe("forms", () => {
  it("of timeouts", () => {
    const texts = ["250 ms", "2m", " 5 ", "1.5s", "ms", "-1", "1h", "99999999999999999999", "3 s"];
    expect(texts.map(f.timeoutMs)).toEqual([250, 120_000, 5000, 30_000, 30_000, 30_000, 30_000, 30_000, 3000]);
  });
  it("of endpoints", () => {
    expect(f.endpointOf("https://own/x", "T", "https://b")).toBe("https://own/x");
    expect(f.endpointOf("//crm/x", "T", "https://b//")).toBe("https://b/crm/x");
    expect(f.endpointOf("/", "T", "https://b/")).toBe("https://b");
  });
  it("of errors, cut between characters", () => {
    expect(f.httpAnswer(404, `${"x".repeat(199)}é`).output).toBe(`HTTP 404: ${"x".repeat(199)}...`);
    expect(f.httpAnswer(404, "x".repeat(200)).output).toBe(`HTTP 404: ${"x".repeat(200)}`);
    expect(f.httpAnswer(299, "").success).toBe(true);
  });
});

const declaration: f.LambdaData = {
  name: "Tèmp",
  ontology: "t",
  certainty: 0.5,
  temporal_frame_start: "2024",
  temporal_frame_end: "",
  provenance: "A",
  derivation: "inferred",
  value: Uint8Array.of(1, 2, 3),
};
const bytes = (data: f.LambdaData): Uint8Array => {
  const made = f.encodeDeclaration(data);
  if (E.isLeft(made)) throw new Error(made.left.message);
  return made.right;
};
const refusal = <A>(made: E.Either<f.DeclarationError, A>): string => (E.isLeft(made) ? made.left.message : "made");

const refused = (more: Partial<f.LambdaData>): string => refusal(f.encodeDeclaration({ ...declaration, ...more }));

describe("a declaration", () => {
  it("survives a round trip, and ignores bytes after it", () => {
    expect(f.decodeDeclaration(Uint8Array.of(...bytes(declaration), 9))).toEqual(E.right(declaration));
    expect(f.declarationJson(declaration)).toMatchObject({ _ld_version: 1, _ld_lossy: true, value_bytes: 3 });
  });
  it("is refused if its bytes are truncated or invalid", () => {
    const whole = bytes(declaration);
    for (let end = 0; end < whole.length; end++) {
      expect(refusal(f.decodeDeclaration(whole.slice(0, end)))).toMatch(/^ΛD decode error: truncated: /);
    }
    const changed = (at: number, byte: number): string => refusal(f.decodeDeclaration(whole.with(at, byte)));
    expect(changed(0, 0)).toBe("ΛD decode error: invalid magic: expected [CE 9B 44], got [00 9B 44]");
    expect(changed(3, 2)).toBe("ΛD decode error: unsupported version: 2 (expected 1)");
    expect(changed(7, 0xff)).toBe("ΛD decode error: invalid UTF-8 in string field");
    expect(changed(whole.length - 8, 7)).toBe("ΛD decode error: invalid derivation tag: 7");
  });
  it("is refused if its claims are impossible", () => {
    expect(refused({ ontology: "" })).toBe(
      "ΛD invariant violation: Ontological Rigidity: 'Tèmp' has empty ontology (T = ⊥)",
    );
    expect(refused({ certainty: 1.5 })).toBe(
      "ΛD invariant violation: Epistemic Bounding: certainty=1.5 for 'Tèmp' (must be in [0, 1])",
    );
    expect(refused({ certainty: 1 })).toContain("Epistemic Degradation: 'Tèmp' has c=1.0 with δ=inferred");
    expect(refused({ name: "x".repeat(65_536) })).toContain("65536 bytes");
    expect(refused({ certainty: 1, derivation: "raw" })).toBe("made");
  });
  it("composed of two has the lower certainty and the later derivation", () => {
    const other = { ...declaration, certainty: 0.9, derivation: "", temporal_frame_end: "2025", provenance: "" };
    expect(f.composeDeclarations(declaration, other, "N", "o")).toEqual(
      E.right({ ...declaration, name: "N", ontology: "o", temporal_frame_end: "2025", value: new Uint8Array() }),
    );
    expect([f.certaintyCeiling(2, 0.4), f.certaintyCeiling(-1, 1)]).toEqual([0.4, 0]);
  });
});

describe("an envelope", () => {
  it("is written in the order of its keys, with null for no target", () => {
    expect(f.envelope({ ...declaration, certainty: 0, derivation: "" }, null)).toEqual(
      E.right(
        '{"T":"t","V":null,"E":{"c":0.0,"tau_start":"2024","tau_end":"","rho":"A","delta":"raw"},"spec_name":"Tèmp"}',
      ),
    );
  });
  it("of an undeclared name claims nothing, and has no name", () => {
    const empty = { ...declaration, name: "", ontology: "", temporal_frame_start: "", provenance: "", derivation: "" };
    expect(f.envelope(f.declarationOf([declaration], "Temp"), "1")).toEqual(
      f.envelope({ ...empty, certainty: 0 }, "1"),
    );
    expect(f.declarationOf([declaration], "Tèmp")).toBe(declaration);
  });
  it("is refused with a certainty of NaN", () => {
    const made = f.envelope({ ...declaration, certainty: NaN }, "x");
    expect(E.isLeft(made) ? made.left.message : "").toBe(
      "[L3] EpistemicDegradationError: lambda 'Tèmp' has out-of-range certainty NaN (must be in [0.0, 1.0])",
    );
  });
});
