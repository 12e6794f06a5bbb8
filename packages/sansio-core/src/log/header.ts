/** The first line of a log: whether this code may read what follows. */
import { type Json, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { currentProtocol } from "../kernel/protocol.ts";
import { type LineFault, lineFault } from "./fault.ts";
import { type Header, HeaderCodec, currentFormat } from "./format.ts";

/** What is newer is refused before anything else is looked at: it may have another form. */
const newerThanKnown = (json: Json, line: number): LineFault | undefined => {
  const { format, protocol } = (typeof json === "object" && json !== null ? json : {}) as Partial<Header>;
  const newer = (what: "format" | "protocol", found: number, known: number): LineFault =>
    lineFault(`newer_${what}`, `this core knows ${what} ${known}, found ${found}: update it first`, { line });
  if (typeof format === "number" && format > currentFormat) return newer("format", format, currentFormat);
  if (typeof protocol === "number" && protocol > currentProtocol) return newer("protocol", protocol, currentProtocol);
  return undefined;
};

/** The header that a line holds, if this code may read on. */
export const headerOf = (json: Json, line: number): E.Either<LineFault, Header> => {
  const newer = newerThanKnown(json, line);
  if (newer !== undefined) return E.left(newer);
  const header = read(HeaderCodec, json);
  if (E.isLeft(header)) {
    const { message, path } = header.left;
    return E.left(lineFault("header_invalid", message, { line, path }));
  }
  const { format, protocol } = header.right;
  if (format > 0 && protocol > 0) return header;
  return E.left(lineFault("header_invalid", "expected a format and a protocol from 1, found 0", { line }));
};
