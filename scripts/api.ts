/** `pnpm api`: writes the API reference, one page a package, from the declarations of what its entry points export. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { writePages } from "../test/api/page.ts";
import { root } from "../test/project.ts";

const folder = join(root, "docs/api");
rmSync(folder, { recursive: true, force: true });
writePages(folder);
