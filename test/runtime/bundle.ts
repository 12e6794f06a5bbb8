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
