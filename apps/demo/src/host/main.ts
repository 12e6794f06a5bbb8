/** `pnpm demo`: builds the page, starts the host, and prints the address. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPage } from "./bundle.ts";
import { openDemo } from "./demo.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "4747" },
    folder: { type: "string", default: "node_modules/.cache/pawl-demo" },
  },
});
const { port, folder } = values;
const page = join(folder, "page");
mkdirSync(folder, { recursive: true });
console.log("pawl: building the page…");
await buildPage(join(process.cwd(), page));
const demo = await openDemo({ page, folder, port: Number(port) });
console.log(`pawl: open ${demo.url}  (Ctrl+C stops it; the journal is ${join(folder, "demo.db")})`);

const opener = { darwin: "open", win32: "explorer" }[process.platform as string] ?? "xdg-open";
const hasDisplay = process.platform !== "linux" || process.env["DISPLAY"] !== undefined;
if (hasDisplay && process.stdout.isTTY) execFile(opener, [demo.url], () => undefined); // Without a browser the address above is enough.

process.once("SIGINT", () => void demo.close());
process.once("SIGTERM", () => void demo.close());
