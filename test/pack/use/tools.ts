import { defaultTools, headline } from "@pawl/tools";
import { nodeWeb } from "@pawl/tools/node";

console.log(defaultTools().length, typeof headline, typeof nodeWeb);
