/** What is frozen of a protocol: its golden logs, to the byte, and the types and fields of its events. */
import { createHash } from "node:crypto";
import { currentProtocol } from "@pawl/sansio-core";
import { files, textOf } from "../project.ts";
import { eventShapes } from "./shape.ts";

export interface Frozen {
  readonly protocol: number;
  /** Of each golden log the SHA-256. */
  readonly golden: { readonly [file: string]: string };
  /** Of each type of event what its codec takes. */
  readonly events: { readonly [type: string]: string };
}

export const frozenFile = (protocol: number): string => `test/freeze/protocol-${protocol}.json`;

const folder = "packages/sansio-core/test/golden/";
/** The commands of a log stand in a file beside it. */
const logOf = (file: string): string => file.replace(".cmds.jsonl", ".jsonl");
const protocolOf = (file: string): number => {
  const [header = "{}"] = textOf(logOf(file)).split("\n");
  return (JSON.parse(header) as { readonly protocol: number }).protocol;
};
const hashOf = (file: string): string => createHash("sha256").update(textOf(file)).digest("hex");

/** Of a protocol's golden logs that are there today. */
export const goldenOf = (protocol: number): Frozen["golden"] => {
  const logs = files.filter((file) => file.startsWith(folder) && file.endsWith(".jsonl"));
  const own = logs.filter((file) => protocolOf(file) === protocol).toSorted();
  return Object.fromEntries(own.map((file) => [file.slice(folder.length), hashOf(file)]));
};

/** As it is today, of the protocol that new scopes have. */
export const today = (): Frozen => ({
  protocol: currentProtocol,
  golden: goldenOf(currentProtocol),
  events: eventShapes(),
});
