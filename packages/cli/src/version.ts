/** The version of this package. */
import { readFileSync } from "node:fs";

/** Reads the version from the manifest of this package. */
export const ownVersion = (): string => {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
};
