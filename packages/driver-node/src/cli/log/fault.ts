/** What is wrong with a log, for a person and for a script. */
import type { ChainCheck } from "@pawl/runtime";
import { type Fault, type Torn, commandsLine, describeFault } from "@pawl/sansio-core";
import { type Json, noLimits, parse } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { Terminal } from "../terminal.ts";

/** A fault as JSON: commands stand in it as they stand beside golden logs. */
export const faultJson = (fault: Fault | undefined): unknown => {
  if (fault === undefined || !("today" in fault)) return fault;
  const today = E.getOrElse((): Json => null)(parse(commandsLine(fault.seq, fault.today), noLimits));
  return { ...fault, today };
};

export const tornJson = (torn: Torn | undefined): unknown =>
  torn === undefined ? undefined : { line: torn.line, bytes: Buffer.byteLength(torn.text) };

export const tornWords = ({ line, text }: Torn): string =>
  `line ${line} is torn after ${Buffer.byteLength(text)} bytes: the end of an append that was never acknowledged`;

/** The first line in one colour, what explains it below. */
export const faultWords = (fault: Fault, { paint }: Terminal): readonly string[] => {
  const [head = "", ...rest] = describeFault(fault).split("\n");
  return [paint("red", head), ...rest];
};

/** The lines of a journal are other ones than when they were hashed. */
export const brokenWords = (
  { seq, expected, found }: Extract<ChainCheck, { readonly type: "broken" }>,
  { paint }: Terminal,
): string => {
  const words = `lines up to event ${seq} are not those that were once vouched for: expected ${expected}, found ${found}`;
  return `${paint("red", "broken chain")}: ${words}`;
};
