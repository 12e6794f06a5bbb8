/** The corpus as files: one line of JSON for each entry, compressed. What is written is never written again. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import type { CoreEntry } from "./core.ts";
import type { Entry } from "./entry.ts";

const folder = join(import.meta.dirname, "protocol-1");

/** Towns: logs that the real runtime wrote. Core: logs that the core simulation wrote. */
export const corpusFiles = { towns: join(folder, "towns.jsonl.br"), core: join(folder, "core.jsonl.br") } as const;

const read = (file: string): readonly unknown[] =>
  brotliDecompressSync(readFileSync(file))
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);

export const readTowns = (): readonly Entry[] => read(corpusFiles.towns) as readonly Entry[];
export const readCore = (): readonly CoreEntry[] => read(corpusFiles.core) as readonly CoreEntry[];

const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } };

/** Writes entries to a file that does not exist yet, and returns its size. */
export const writeEntries = (file: string, entries: readonly unknown[]): number => {
  if (existsSync(file)) throw new Error(`${file} is there: the corpus is never written again`);
  mkdirSync(folder, { recursive: true });
  const bytes = brotliCompressSync(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""), quality);
  writeFileSync(file, bytes, { flag: "wx" });
  return bytes.length;
};

export type Counts = ReadonlyMap<string, number>;

/** Counts how often each word stands in these lists. */
export const countsOf = (lists: readonly (readonly string[])[]): Counts => {
  const counts = new Map<string, number>();
  for (const word of lists.flat()) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
};
