/** A server over the standard input and output of this process. Nothing else may write to standard output. */
import type { Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { ServedMcp } from "../server/serve.ts";

/** Serves one client over stdio, until it or `close` ends the connection. */
export const serveOverStdio = (
  { connection }: Pick<ServedMcp, "connection">,
  transport?: Transport,
): { readonly close: () => Promise<void> } =>
  serveStdio(({ era }) => connection(era), transport === undefined ? {} : { transport });
