/** `node examples/cloudflare/kill.ts FOLDER`: kills the workerd of that folder with SIGKILL. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [folder = "cloudflare-objects"] = process.argv.slice(2);
process.kill(Number(readFileSync(join(folder, "pid"), "utf8")), "SIGKILL");
