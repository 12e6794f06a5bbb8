/** The adapters of all packages: each keeps its own in `test/cases.ts`. */
import { globSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Adapters, wireRoundtrip } from "@pawl/testkit";
import type { Codec } from "@pawl/tool-value";

interface PackageCases {
  readonly adapters: Adapters;
  readonly wire?: { readonly [type: string]: Codec<unknown> };
}

const root = resolve(import.meta.dirname, "..");

export const collectAdapters = async (): Promise<Adapters> => {
  const files = globSync("packages/*/test/cases.ts", { cwd: root }).toSorted();
  const packages: PackageCases[] = await Promise.all(
    files.map((file) => import(pathToFileURL(resolve(root, file)).href) as Promise<PackageCases>),
  );
  const wire = Object.assign({}, ...packages.map((p) => p.wire ?? {}));
  return Object.assign({ "wire.roundtrip": wireRoundtrip(wire) }, ...packages.map((p) => p.adapters));
};
