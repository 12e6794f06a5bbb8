/** docs/errors.md has every code that programs may meet, and none that nobody gives. */
import { expect, it } from "vitest";
import { files, textOf } from "./project.ts";

const sources = files.filter((file) =>
  /^packages\/(?:cli|compat|runtime|wire|driver-node|driver-browser|driver-cloudflare|journal-postgres|sansio-core(?=\/src\/call\/))\/src\/.*\.ts$/.test(
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

/** In the first cells of its tables. */
const listed = [...textOf("docs/errors.md").matchAll(/^\| (?<cell>`[^|]+`) +\|/gm)].flatMap(({ groups }) =>
  [...(groups?.["cell"] ?? "").matchAll(/`(?<code>[a-z_\d]+)`/g)].map((match) => match.groups?.["code"] ?? ""),
);

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
