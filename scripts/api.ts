/** `pnpm api`: writes the API reference to docs/api, one page a package, from the declarations of what its entry points export. */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writePages } from "../test/api/page.ts";
import { root } from "../test/project.ts";

const folder = join(root, "docs/api");
const draft = mkdtempSync(join(tmpdir(), "pawl-api-")); // The formatter passes over folders that Git ignores.
try {
  writePages(draft);
  rmSync(folder, { recursive: true, force: true });
  cpSync(draft, folder, { recursive: true });
} finally {
  rmSync(draft, { recursive: true });
}
