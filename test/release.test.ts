/** Tests what a release has to bring: one version, its changelog, its licences, and pages that name what there is. */
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { files, pathOf, textOf } from "./project.ts";

const manifests = files
  .filter((file) => /^packages\/[^/]+\/package\.json$/.test(file))
  .map((file) => ({ folder: file.replace("/package.json", ""), ...(JSON.parse(textOf(file)) as Manifest) }));
interface Manifest {
  readonly version: string;
  readonly license: string;
}

const released = [...textOf("CHANGELOG.md").matchAll(/^## (?<version>\S+)/gm)].map(({ groups }) => groups?.["version"]);

describe("a release", () => {
  it("has one version, in every package and at the head of the changelog", () => {
    expect(new Set(manifests.map(({ version }) => version))).toEqual(new Set([released[0]]));
    expect(new Set(released).size).toBe(released.length);
  });

  it("brings the licence in every package", () => {
    const licence = textOf("LICENSE");
    for (const { folder, license } of manifests) {
      expect([folder, license]).toEqual([folder, "MIT"]);
      expect(textOf(`${folder}/LICENSE`), folder).toBe(licence);
    }
  });

  it("names in its pages for contributors only what is there", () => {
    const named = ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].flatMap((page) =>
      [
        ...textOf(page).matchAll(/`(?<file>(?:packages|test|docs|scripts|apps)\/[^`]+)`|\]\((?<link>[^):#]+)[^):]*\)/g),
      ].map(({ groups }) => groups?.["file"] ?? (groups?.["link"] as string)),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((file) => !existsSync(pathOf(file)))).toEqual([]);
  });
});
