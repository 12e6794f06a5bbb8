import process from "node:process";
import { run } from "@pawl/cli";

const out: string[] = [];
const code = await run(["help", "ls", "--json"], {
  out: { write: (text: string) => out.push(text) > 0 },
  err: process.stderr,
  env: {},
  now: Date.now,
  interrupted: new AbortController().signal,
});
console.log(code, (JSON.parse(out.join("")) as { readonly name: string }).name);
