/**
 * What is frozen of a protocol: its golden logs, to the byte, and the types and fields of its events. The newest protocol
 * may be open: then its events may still get fields, and its golden logs may be written anew.
 */
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
/** Golden logs of protocol 1 lie in the folder, those of a later one in a folder of its number. */
const protocolOf = (file: string): number =>
  Number(/^(?<number>\d+)\//.exec(file.slice(folder.length))?.groups?.["number"] ?? 1);
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
