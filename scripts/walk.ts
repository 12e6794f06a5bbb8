/**
 * `pnpm walk [--page]`: traces a warm call of one step and an approval over WebSocket, prints what ran, in order and with counts, and
 * writes `docs/walk.md`; `--page` prints that page instead, with the files that each walk touches, as JSON.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { pathOf } from "../test/project.ts";
import { pageOf, roomOf, shortOf } from "./walk/page.ts";
import type { Walk } from "./walk/world.ts";

const { values } = parseArgs({ options: { page: { type: "boolean", default: false } } });

const enteredIn = ({ stages }: Walk) => stages.flatMap(({ entered }) => entered);
const filesOf = (walk: Walk): readonly string[] => [...new Set(enteredIn(walk).map(({ file }) => file))];

const printed = (walk: Walk): string => {
  const lines = walk.stages.flatMap(({ title, entered, written }) => [
    `\n${title.replaceAll("`", "")}${written.length > 0 ? ` (written: ${written.join(", ")})` : ""}`,
    ...entered.map(({ file, name, count }) => `${`${count}`.padStart(6)}  ${shortOf(file)}  ${name}`),
  ]);
  return [`\n${walk.title.toUpperCase()}`, ...lines].join("\n");
};

const roomsOf = (walk: Walk): string => {
  const rooms = Map.groupBy(enteredIn(walk), ({ file }) => roomOf(file));
  const rows = [...rooms].map(([room, entered]) => {
    const files = new Set(entered.map(({ file }) => file)).size;
    return `${`${files}`.padStart(6)} files ${`${entered.length}`.padStart(5)} functions  ${room}`;
  });
  return ["", ...rows].join("\n");
};

const totalOf = (walk: Walk): string => {
  const files = filesOf(walk).length;
  const verdict = files <= walk.bound ? "" : " — DOES NOT HOLD";
  return `${walk.title}: ${files} files, ${enteredIn(walk).length} functions; at most ${walk.bound} files${verdict}`;
};

await import("./walk/entry.ts"); // Its hook has to be there before the packages are loaded.
const { walks } = await import("./walk/world.ts");
const all = await walks();
const page = await pageOf(all);
if (values.page) {
  console.log(JSON.stringify({ page, walks: all.map((walk) => ({ ...walk, stages: [], files: filesOf(walk) })) }));
} else {
  for (const walk of all) console.log(printed(walk));
  for (const walk of all) console.log(`\n${walk.title}${roomsOf(walk)}`);
  console.log(`\n${all.map(totalOf).join("\n")}`);
  writeFileSync(pathOf("docs/walk.md"), page);
}
