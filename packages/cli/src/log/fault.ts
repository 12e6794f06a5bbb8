/** Describes a log's faults, for a person and for a script. */
import type { ChainCheck } from "@pawl/runtime/driver";
import { type Fault, describeFault } from "@pawl/sansio-core";
import { type Torn, commandsLine } from "@pawl/sansio-core/driver";
import { noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Terminal } from "../terminal.ts";

/** Returns a fault as JSON, with commands in the format of golden logs. */
export const faultJson = (fault: Fault | undefined): unknown => {
  if (fault === undefined || !("today" in fault)) return fault;
  const today = parse(commandsLine(fault.seq, fault.today), noLimits);
  return { ...fault, today: E.isRight(today) ? today.right : null };
};

export const tornJson = (torn: Torn | undefined): unknown =>
  torn === undefined ? undefined : { line: torn.line, bytes: Buffer.byteLength(torn.text) };

export const tornWords = ({ line, text }: Torn): string =>
  `line ${line} is torn after ${Buffer.byteLength(text)} bytes: an append that was never acknowledged`;

/** Colours the first line and leaves the explanation plain. */
export const faultWords = (fault: Fault, { paint }: Terminal): readonly string[] => {
  const [head = "", ...rest] = describeFault(fault).split("\n");
  return [paint("red", head), ...rest];
};

/** Describes a chain that does not match the journal's lines. */
export const brokenWords = (
  { seq, expected, found }: Extract<ChainCheck, { readonly type: "broken" }>,
  { paint }: Terminal,
): string => {
  const words = `lines up to event ${seq} have changed since they were hashed: expected ${expected}, found ${found}`;
  return `${paint("red", "broken chain")}: ${words}`;
};
