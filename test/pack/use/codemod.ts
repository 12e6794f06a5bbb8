import { releases, rewrite } from "@pawl/codemod";

console.log(rewrite("a.ts", "defineTool({ parameters: p });", releases["0.1-to-1.0"] ?? []).text);
