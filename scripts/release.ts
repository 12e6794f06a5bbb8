/**
 * `pnpm release VERSION [--publish]`: writes the version into all packages and the changelog, packs them, and rehearses their
 * publication. With `--publish` it commits, tags and publishes, with provenance; a person with an account runs that in a CI that
 * vouches for the build. `pnpm release --rehearse FOLDER` only rehearses the publication of what is packed already.
 */
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const root = resolve(import.meta.dirname, "..");
const run = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

const refuse = (message: string): never => {
  console.error(`pnpm release: ${message}`);
  process.exit(2);
};

const isNewer = (version: string, than: string): boolean => {
  const [a, b] = [version, than].map((one) => one.split(".").map(Number));
  const at = [0, 1, 2].find((i) => a?.[i] !== b?.[i]);
  return at !== undefined && (a?.[at] ?? 0) > (b?.[at] ?? 0);
};

/** Writes the version into every manifest, and returns them. */
const bump = (version: string): readonly string[] => {
  const manifests = globSync("packages/*/package.json", { cwd: root });
  for (const manifest of manifests) {
    const text = readFileSync(join(root, manifest), "utf8");
    const { version: old } = JSON.parse(text) as { readonly version: string };
    if (old !== version && !isNewer(version, old)) refuse(`expected a version above ${old}, found ${version}`);
    writeFileSync(join(root, manifest), text.replace(`"version": "${old}"`, `"version": "${version}"`));
  }
  return manifests;
};

/** Gives the head of the changelog, which is `## Unreleased` between releases, its version. */
const head = (version: string): void => {
  const file = join(root, "CHANGELOG.md");
  const text = readFileSync(file, "utf8");
  if (text.includes(`\n## ${version}\n`)) return;
  if (!text.includes("\n## Unreleased\n")) refuse(`the changelog has neither \`## ${version}\` nor \`## Unreleased\``);
  writeFileSync(file, text.replace("\n## Unreleased\n", `\n## ${version}\n`));
};

/** Publishes each tarball, or only rehearses it. */
const publish = (folder: string, ...options: readonly string[]): void => {
  for (const tarball of globSync("*.tgz", { cwd: folder }).toSorted())
    console.log(
      run("npm", "publish", join(folder, tarball), "--access", "public", "--loglevel", "error", ...options).trim(),
    );
};

const { positionals, values } = parseArgs({
  options: { publish: { type: "boolean", default: false }, rehearse: { type: "string" } },
  allowPositionals: true,
});

if (values.rehearse !== undefined) publish(resolve(values.rehearse), "--dry-run");
else {
  const [version = ""] = positionals;
  if (!/^\d+\.\d+\.\d+$/.test(version)) refuse(`expected a version as 1.2.3, found \`${version}\``);
  if (run("git", "status", "--porcelain") !== "") refuse("the work tree has changes: commit them first");
  const manifests = bump(version);
  head(version);
  const folder = mkdtempSync(join(tmpdir(), "pawl-release-"));
  run(process.execPath, "scripts/tarballs.ts", folder);
  publish(folder, "--dry-run");
  if (values.publish) {
    run("git", "commit", "--allow-empty", "--message", `release ${version}`, "--", "CHANGELOG.md", ...manifests);
    run("git", "tag", `v${version}`);
    publish(folder, "--provenance");
  } else
    console.log(
      `rehearsed; \`pnpm release ${version} --publish\` publishes, \`git checkout .\` takes the versions back`,
    );
}
