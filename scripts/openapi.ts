/** Writes the OpenAPI document of `@pawl/http` beside its package: `pnpm openapi`. */
import { writeFileSync } from "node:fs";
import { openApi } from "../packages/http/src/index.ts";

const file = new URL("../packages/http/openapi.json", import.meta.url);
writeFileSync(file, `${JSON.stringify(openApi(), undefined, 2)}\n`);
