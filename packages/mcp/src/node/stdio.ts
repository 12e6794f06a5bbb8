/** MCP over standard input and output: a server of this process, and servers that are started for their tools. */
import type { Transport as ClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { ServedMcp } from "../server/serve.ts";

/** Serves one client over stdio, until it or `close` ends the connection. Nothing else may write to standard output. */
export const serveOverStdio = (
  { connection }: Pick<ServedMcp, "connection">,
  transport?: Transport,
): { readonly close: () => Promise<void> } =>
  serveStdio(({ era }) => connection(era), transport === undefined ? {} : { transport });

/** A server that is started as a child process. */
export interface StdioCommand {
  readonly command: string;
  readonly args?: readonly string[];
  /** The environment of the process. Default: a few variables of this one, such as `PATH`. */
  readonly env?: { readonly [name: string]: string };
  readonly cwd?: string;
  /** Gets the lines that the server writes to standard error. Without it they are dropped. */
  readonly stderr?: (line: string) => void;
}

/** Splits a stream of text into lines. */
const linesTo = (line: (text: string) => void): ((part: unknown) => void) => {
  let rest = "";
  return (part) => {
    const lines = `${rest}${String(part)}`.split("\n");
    rest = (lines.pop() ?? "").slice(-10_000);
    for (const text of lines) line(text);
  };
};

/** Makes connections to a server that is started for each: the `transport` of `mcpTools`, which starts it again when it dies. */
export const stdio =
  ({ command, args = [], env, cwd, stderr }: StdioCommand) =>
  (): ClientTransport => {
    const transport = new StdioClientTransport({
      command,
      args: [...args],
      stderr: stderr === undefined ? "ignore" : "pipe",
      ...(env === undefined ? {} : { env: { ...env } }),
      ...(cwd === undefined ? {} : { cwd }),
    });
    if (stderr !== undefined) transport.stderr?.on("data", linesTo(stderr));
    return transport;
  };
