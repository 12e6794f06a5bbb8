/** The page that lists all fields of a host's configuration must be complete and correct. */
import { describe, expect, it } from "vitest";
import { textOf } from "../../../test/project.ts";
import { type HostConfig, configIn, journalPlaceOf } from "../src/host/config.ts";

const page = textOf("docs/operations.md");

/** All fields; the types check that none is missing. */
const fields: { readonly [K in keyof Required<HostConfig>]: true } = {
  journal: true,
  direct: true,
  prepares: true,
  blobs: true,
  keys: true,
  flows: true,
  flow_tools: true,
  flow_base: true,
  flow_allow: true,
  tools: true,
  address: true,
  port: true,
  public_url: true,
  tls: true,
  origins: true,
  secrets: true,
  grants: true,
  peers: true,
  limits: true,
  executor_lease_ms: true,
  upgrade: true,
  code_version: true,
  retention_days: true,
  max_journal_mb: true,
  log_level: true,
  traces: true,
  studio: true,
  stop_after_idle_ms: true,
  forward: true,
  drain_ms: true,
};

/** Returns the first column of the table with this header. */
const named = (head: string): readonly string[] => {
  const [, table = ""] = page.split(`\n| ${head} `);
  const rows = table.split("\n\n")[0]?.split("\n").slice(2) ?? [];
  return rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").replaceAll(/\{[^}]*\}/g, "").matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ""),
  );
};

describe("docs/operations.md", () => {
  it("has an example configuration that can be read", () => {
    const [, text = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
    expect(configIn("pawl.json", text)).toMatchObject({ journal: "journal.db", port: 7777, log_level: "info" });
  });

  it("lists each field of a configuration, and no other", () => {
    expect(named("field").toSorted()).toEqual(Object.keys(fields).toSorted());
  });
});

describe("the journal of a host", () => {
  const [pool, direct] = ["postgres://pool.internal/app", "postgres://db.internal/app"];
  it("is a database beside its pooler, where both are named", () => {
    expect(journalPlaceOf(pool, {})).toEqual({ postgres: pool });
    expect(journalPlaceOf(pool, { direct, prepares: false })).toEqual({
      postgres: { url: pool, direct, prepares: false },
    });
  });
  it("is a file without either", () => {
    expect(journalPlaceOf("a.db", {})).toEqual({ file: "a.db" });
    expect(() => journalPlaceOf("a.db", { direct })).toThrow("are for a journal in a database");
    expect(() => journalPlaceOf(pool, { direct: "b.db" })).toThrow("expects the address of a database, found b.db");
  });
});
