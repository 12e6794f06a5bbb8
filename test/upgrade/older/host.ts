/** A host of an older release, in a process of its own: it takes scopes in over WebSocket, and opens sessions of its file. */
import { readFileSync } from "node:fs";
import { openHost, openRuntime, sqliteJournal } from "@pawl/driver-node";
import { importLog } from "@pawl/runtime";
import { walks } from "./tool.ts";

/** What its parent may ask: to open a session, or to take in an exported log. */
export type Asked = { readonly open: string } | { readonly load: string };
/** Why it did not, or nothing. */
export interface Answer {
  readonly code?: string;
  readonly message?: string;
}

const [file = "", secret = ""] = process.argv.slice(2);
const { runtime, close } = openRuntime({ file, tools: [walks], log: () => undefined });
const host = await openHost({ runtime, secrets: [Buffer.from(secret, "hex")] });

const done = async (asked: Asked): Promise<unknown> => {
  if ("open" in asked) return runtime.session(asked.open);
  const journal = sqliteJournal(`${file}.loaded`);
  return importLog(journal, "loads", [readFileSync(asked.load, "utf8")]).finally(journal.close);
};

const answer = (said: Answer): void => void process.send?.(said);

process.on("message", (asked: Asked) => {
  done(asked).then(
    () => answer({}),
    ({ code, message }: Answer) => answer({ ...(code === undefined ? {} : { code }), message: message ?? "" }),
  );
});
process.on("disconnect", () => void host.close().then(close));
process.send?.({ url: host.url });
