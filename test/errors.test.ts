/** docs/errors.md has every code that programs may meet, and none that nobody gives. */
import { expect, it } from "vitest";
import { files, textOf } from "./project.ts";

const sources = files.filter((file) =>
  /^packages\/(?:cli|compat|runtime|wire|http|driver-node|driver-browser|driver-cloudflare|journal-postgres|sansio-core(?=\/src\/call\/))\/src\/.*\.ts$/.test(
    file,
  ),
);
const ends = ["output", "result", "resolution"].map((name) => `packages/tool-value/src/${name}.ts`);
const others = ["packages/sansio-core/src/kernel/error.ts", ...ends];

/** Where a code is given: errors, refusals and failures, fields, and unions of codes. */
const given = [
  /\bnew \w*(?:Error|Refused|Missing)\(\s*"(?<codes>[a-z_\d]+)"/g,
  /\bcode(?::| =) (?<codes>(?:"[a-z_\d]+"(?: \| )?)+)/g,
  /\b(?:refused|refuse|failed|failure|failureOf|misfit|internal|denied)\((?:\s*\w+,)?\s*"(?<codes>[a-z_\d]+)"/g,
  /\b(?:runtime|tool)Failure\(\s*"[a-z_\d]+",\s*"(?<codes>[a-z_\d]+)"/g,
  /\btype \w*Code =(?<codes>(?:\s*\|?\s*"[a-z_\d]+")+)/g,
];

const codesIn = (file: string): readonly string[] =>
  given
    .flatMap((form) => [...textOf(file).matchAll(form)])
    .flatMap(({ groups }) => [...(groups?.["codes"] ?? "").matchAll(/[a-z_\d]+/g)].map(([code]) => code));

const page = textOf("docs/errors.md");

/** Codes with a paragraph of their own, and what it says. */
const paragraphs = [...page.matchAll(/^#### `(?<code>[a-z_\d]+)`\n\n(?<text>.+)$/gm)].map(({ groups }) => ({
  code: groups?.["code"] ?? "",
  text: groups?.["text"] ?? "",
}));

/** In headings, and in the first cells of its tables. */
const tabled = [...page.matchAll(/^\| (?<cell>`[^|]+`) +\|/gm)].flatMap(({ groups }) =>
  [...(groups?.["cell"] ?? "").matchAll(/`(?<code>[a-z_\d]+)`/g)].map((match) => match.groups?.["code"] ?? ""),
);
const listed = [...paragraphs.map(({ code }) => code), ...tabled];

it("every code of the runtime, the drivers and the core is on the page of errors", () => {
  const codes = new Set([...sources, ...others].flatMap(codesIn));
  expect(codes.size).toBeGreaterThan(190);
  expect([...codes].filter((code) => !listed.includes(code)).toSorted()).toEqual([]);
});

it("the page of errors has no code that nobody gives", () => {
  const core = files.filter((file) => file.startsWith("packages/sansio-core/src/") && file.endsWith(".ts"));
  const said = [...sources, ...core, ...ends].map(textOf).join("\n");
  expect(listed.filter((code) => !said.includes(`"${code}"`))).toEqual([]);
});

it("what a program and a tool's author meet has a paragraph of its own, once, which says more than when", () => {
  const codes = paragraphs.map(({ code }) => code);
  expect(codes.length).toBeGreaterThan(100);
  expect(codes.filter((code, i) => codes.indexOf(code) !== i)).toEqual([]);
  const refusals = files.filter((file) => /^packages\/runtime\/src\/(?:session|tool|body)\/.*\.ts$/.test(file));
  const thrown = /\bnew (?:Refused|EffectError)\(\s*"(?<code>[a-z_\d]+)"/g;
  const met = refusals.flatMap((file) =>
    [...textOf(file).matchAll(thrown)].map(({ groups }) => groups?.["code"] ?? ""),
  );
  expect(new Set(met).size).toBeGreaterThan(20);
  expect([...new Set(met)].filter((code) => !codes.includes(code))).toEqual([]);
  expect(paragraphs.filter(({ text }) => text.split(" ").length < 5)).toEqual([]);
});
