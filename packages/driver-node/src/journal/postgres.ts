/** Loads `@pawl/journal-postgres`, which only hosts on PostgreSQL install. */
import { createRequire } from "node:module";
import type { PostgresJournal, PostgresOptions } from "@pawl/journal-postgres";
import { Refused } from "@pawl/runtime";

type Package = { readonly postgresJournal: (options: PostgresOptions) => PostgresJournal };

const load = createRequire(import.meta.url);

const isMissing = (thrown: unknown): boolean =>
  thrown instanceof Error && "code" in thrown && thrown.code === "MODULE_NOT_FOUND";

/** Opens the journal, or throws which package is missing. The first use connects. */
export const postgresAt = (options: string | PostgresOptions): PostgresJournal => {
  const asked = typeof options === "string" ? { url: options } : options;
  try {
    const { postgresJournal } = load("@pawl/journal-postgres") as Package;
    return postgresJournal(asked);
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown;
    const advice = "install it beside @pawl/driver-node";
    throw new Refused("invalid_option", `\`postgres\` needs the package @pawl/journal-postgres: ${advice}`);
  }
};
