/** Whether a log brings along what it names. */
import { BlobMissing, linesIn, namesIn, unpacked } from "@pawl/runtime";
import { blobOf } from "@pawl/sansio-core";
import { hashText, parseRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import type { LogSource } from "../place.ts";

export interface BlobFaults {
  readonly missing: readonly string[];
  readonly corrupt: readonly string[];
}

const isTrue = (line: string, corrupt: string[]): string | undefined => {
  const json = parseRecord(line);
  const packed = E.isRight(json) ? blobOf(json.right) : undefined;
  if (packed === undefined) return undefined;
  try {
    unpacked(packed, "", hashText);
  } catch (thrown) {
    if (!(thrown instanceof BlobMissing)) throw thrown;
    corrupt.push(packed.blob);
  }
  return packed.blob;
};

export const blobFaults = async ({ text }: LogSource): Promise<BlobFaults> => {
  const [named, packed, corrupt] = [new Set<string>(), new Set<string>(), [] as string[]];
  for (const line of linesIn(await text())) {
    const blob = line.startsWith('{"blob":') ? isTrue(line, corrupt) : undefined;
    if (blob !== undefined) packed.add(blob);
    else for (const name of namesIn(line)) named.add(name);
  }
  return { missing: [...named].filter((name) => !packed.has(name)), corrupt };
};
