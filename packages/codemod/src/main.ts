#!/usr/bin/env node
/** `codemod 0.1-to-1.0 [files]`: rewrites programs and the code blocks of Markdown in place. */
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, normalize } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { releases } from "./release.ts";
import { rewrite } from "./rewrite.ts";
import { NotParsed } from "./source.ts";

const usage = `codemod <release> [files or folders]

Rewrites programs (.ts .tsx .js .jsx .mts .mjs .cts .cjs) and the code blocks of Markdown (.md .mdx) in place.
Without files it takes all below this folder. Releases: ${Object.keys(releases).join(", ")}

  --except <path>  leave a file or a folder as it is (may be given again)
  --dry-run        write nothing, only say what would change
  --list           list the renamings of the release`;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    except: { type: "string", multiple: true, default: [] },
    "dry-run": { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

const isRewritten = (path: string): boolean => /\.(?:[cm]?[jt]sx?|mdx?)$/.test(path) && !/\.d\.[cm]?ts$/.test(path);
const isSkipped = (name: string): boolean => name === "node_modules" || name === "dist" || /^\../.test(name);
const except = values.except.map(normalize);
const isExcepted = (path: string): boolean => except.some((one) => path === one || path.startsWith(join(one, "/")));

/** Lists the files at a path. A file that is named is taken; in a folder those that can be rewritten are. */
const filesAt = (path: string): readonly string[] => {
  if (isExcepted(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const below = join(path, entry.name);
    if (isSkipped(entry.name) || isExcepted(below)) return [];
    return entry.isDirectory() ? filesAt(below) : entry.isFile() && isRewritten(entry.name) ? [below] : [];
  });
};

/** Rewrites the files, says what changed and what a person is to look at, and returns the exit code. */
const run = (release: string, paths: readonly string[]): number => {
  const renamings = releases[release];
  if (renamings === undefined) {
    console.error(`no release \`${release}\`: expected one of ${Object.keys(releases).join(", ")}`);
    return 2;
  }
  if (values.list) console.log(renamings.map(({ title }) => title).join("\n"));
  if (values.list) return 0;
  let changed = 0;
  for (const file of paths.flatMap((path) => filesAt(normalize(path)))) {
    const text = readFileSync(file, "utf8");
    try {
      const after = rewrite(file, text, renamings);
      for (const { line, message } of after.notes) console.log(`${file}:${line}: ${message}`);
      if (after.text === text) continue;
      if (!values["dry-run"]) writeFileSync(file, after.text);
      console.log(`${values["dry-run"] ? "would rewrite" : "rewrote"} ${file}`);
      changed += 1;
    } catch (thrown) {
      if (!(thrown instanceof NotParsed)) throw thrown;
      console.error(`${thrown.message}: left as it is`);
    }
  }
  console.log(`${changed} ${changed === 1 ? "file" : "files"} ${values["dry-run"] ? "to rewrite" : "rewritten"}`);
  return 0;
};

const [release, ...paths] = positionals;
if (release === undefined || values.help) console.log(usage);
process.exitCode =
  release === undefined ? (values.help ? 0 : 2) : values.help ? 0 : run(release, paths.length === 0 ? ["."] : paths);
