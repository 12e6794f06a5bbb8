/** What a file exports, as one script for a page that leaves `pawl` behind. */
import { build } from "rolldown";
import { pathOf } from "../project.ts";

export const bundleOf = async (file: string): Promise<string> => {
  const { output } = await build({
    input: pathOf(file),
    platform: "browser",
    output: { format: "iife", name: "pawl" },
    write: false,
    logLevel: "warn",
  });
  return output[0].code;
};

/** The files that a page loads of a module and of what it imports; the first is its own. */
export const chunksOf = async (file: string): Promise<ReadonlyMap<string, string>> => {
  const { output } = await build({
    input: file,
    platform: "browser",
    output: { format: "esm" },
    write: false,
    logLevel: "warn",
  });
  return new Map(output.flatMap((one) => (one.type === "chunk" ? [[one.fileName, one.code] as const] : [])));
};
