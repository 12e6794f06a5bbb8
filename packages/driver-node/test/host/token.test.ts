/** Tokens of a host: their format, and forged or damaged ones. */
import { createHmac } from "node:crypto";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import { type Claims, checkSecrets, claimsOf, missingRight, signToken } from "@pawl/wire/host";
import { everything, secret } from "./rig.ts";

const now = Date.UTC(2026);
const token = signToken([secret], everything);
const said = (given: string): string | Claims => E.getOrElseW((why: string) => why)(claimsOf([secret], given, now));

describe("a token", () => {
  it("consists of its format's name, its claims, and their HMAC together with that name", () => {
    const [version, claims, signature] = token.split(".");
    expect([version, JSON.parse(Buffer.from(claims ?? "", "base64url").toString())]).toEqual(["pawl1", everything]);
    expect(signature).toBe(createHmac("sha256", secret).update(`pawl1.${claims}`).digest("base64url"));
    expect(said(token)).toEqual(everything);
  });

  it("has three parts, and no more than the longest token's length", () => {
    const form = "expected a token of the form pawl1.claims.signature";
    const text = Buffer.from(JSON.stringify({ ...everything, scopes: ["x".repeat(16 * 1024)] })).toString("base64url");
    const many = `pawl1.${text}.${createHmac("sha256", secret).update(`pawl1.${text}`).digest("base64url")}`;
    for (const other of [`${token}.`, `${token}.more`, token.replace("pawl1", "pawl2"), "", many])
      expect(said(other)).toBe(form);
  });

  it("has one spelling of its signature, and of its claims", () => {
    const [version, claims = "", signature = ""] = token.split(".");
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = letters.indexOf(signature.at(-1) ?? "");
    // The last letter of 32 bytes has two bits that mean nothing: a lenient reader takes four letters for it.
    const twins = [1, 2, 3].map((bits) => signature.slice(0, -1) + (letters[last ^ bits] ?? ""));
    const base64 = signature.replaceAll("-", "+").replaceAll("_", "/");
    const others = [...twins, `${signature}=`, `${signature} `, ` ${signature}`, `${signature}A`, `${base64}=`];
    for (const other of others) {
      expect(Buffer.from(other, "base64").subarray(0, 32)).toEqual(Buffer.from(signature, "base64url"));
      expect(E.isLeft(claimsOf([secret], [version, claims, other].join("."), now))).toBe(true);
    }
    for (const other of [`${claims}=`, `${claims} `, `${claims}%3D`])
      expect(E.isLeft(claimsOf([secret], [version, other, signature].join("."), now))).toBe(true);
    expect(E.isRight(claimsOf([secret], token, now))).toBe(true);
  });

  it("is valid until its expiry, to the millisecond", () => {
    const short = signToken([secret], { ...everything, expires_at: now + 1 });
    expect(E.isRight(claimsOf([secret], short, now))).toBe(true);
    expect(E.isRight(claimsOf([secret], short, now + 1))).toBe(false);
  });
});

/** Signs claims of an untyped program. */
const signed = (claims: object): string => signToken([secret], { ...everything, ...claims } as Claims);

describe("a token", () => {
  it.each([
    [
      { rights: ["cal"] },
      "unknown variant `cal`, expected one of `call`, `resolve`, `approve`, `observe`, `execute`, `move` at $.rights[0]",
    ],
    [{ rights: "call" }, 'invalid type: string "call", expected a sequence at $.rights'],
    [{ by: undefined }, "missing field `by`"],
    [{ expires_at: undefined }, "missing field `expires_at`"],
    [{ expires_at: 1_900_000_000 }, "expected milliseconds since 1970, found 1900000000: multiply seconds by 1000"],
    [{ expires_at: now + 0.5 }, "expected u64 at $.expires_at"],
    [{ scopes: "session:" }, 'invalid type: string "session:", expected a sequence at $.scopes'],
    [{ scopes: [] }, "scopes: expected at least one, found none"],
    [{ scopes: ["session:", "alice"] }, "names of scopes begin with session: or process:, found `alice`"],
    [{ scopes: [`session:${"x".repeat(16 * 1024)}`] }, "a token has at most 16384 characters, found"],
  ])("that no host takes, or nobody can mean: %j", (claims, message) => {
    expect(() => signed(claims)).toThrow(
      expect.objectContaining({ code: "invalid_argument", message: expect.stringContaining(message) }),
    );
  });

  it("is signed only if somebody may mean it", () => {
    for (const claims of [{ scopes: [""] }, { scopes: ["sess", "process:p"] }, { rights: [] }, { expires_at: now + 1 }])
      expect(said(signed(claims))).toMatchObject({ by: "ann", ...claims });
    expect(said(signed({ expires_at: now }))).toBe("the token expired at 2026-01-01T00:00:00.000Z");
  });
});

describe("secrets", () => {
  it("must be one or more, each of at least 32 bytes", () => {
    expect(() => checkSecrets([])).toThrow("found no secret");
    expect(() => checkSecrets([secret, new Uint8Array(31)])).toThrow("found a secret of 31 bytes");
    expect(() => checkSecrets([secret, new Uint8Array(32)])).not.toThrow();
  });
});

it("gives rights in scopes with its prefixes only", () => {
  const claims: Claims = { ...everything, scopes: ["session:team-1/", "process:p"], rights: ["call"] };
  for (const scope of ["session:team-1/a", "process:p", "process:p2"])
    expect(missingRight(claims, "call", scope)).toBeUndefined();
  for (const scope of ["session:team-2/session:team-1/a", "session:team-1", "session:process:p", ""])
    expect(missingRight(claims, "call", scope)).toBe(`\`ann\` has no right in scope ${scope}`);
  expect(missingRight(claims, "move", "process:p")).toBe("`ann` has no right to move");
});
