/** Folders of the core import one way, by the real imports: those of values count, those of types do not. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { concerns } from "../../src/concerns.ts";

const src = resolve(import.meta.dirname, "../../src");
const files = globSync("**/*.ts", { cwd: src });

interface Import {
  readonly file: string;
  readonly target: string;
}

const isOfTypes = (clause: string): boolean => {
  if (/^type\b/.test(clause)) return true;
  const names = /^\{(?<names>[^}]*)\}$/s.exec(clause)?.groups?.["names"];
  const each = (names ?? "").split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  return names !== undefined && each.every((name) => name.startsWith("type "));
};

const importsOf = (file: string): readonly Import[] =>
  [
    ...readFileSync(join(src, file), "utf8").matchAll(
      /^(?:import|export) (?<clause>[^;]*?) from "(?<name>\.[^"]+)";$/gms,
    ),
  ]
    .filter(({ groups }) => !isOfTypes(groups?.["clause"] as string))
    .map(({ groups }) => ({ file, target: normalize(join(dirname(file), groups?.["name"] as string)) }));

const imports = files.flatMap(importsOf);

/** The folder of a file; a file at the top stands for itself. */
const roomOf = (file: string): string => (file.includes("/") ? (file.split("/")[0] as string) : file);

const shared = ["kernel", "identity", "message"];
const layers = [...shared, ...concerns.map(({ name }) => name)];

describe("the folders of the core", () => {
  it("are all known by their place: shared, a concern, or built on the concerns", () => {
    const above = ["snapshot", "log", "explain"];
    const rooms = new Set(files.filter((file) => file.includes("/")).map(roomOf));
    expect([...rooms].toSorted()).toEqual([...layers, ...above].toSorted());
    expect(imports.length).toBeGreaterThan(300);
  });

  it("have concerns that import only what is shared, and concerns above them in the list", () => {
    const upward = imports.filter(({ file, target }) => {
      const [from, to] = [layers.indexOf(roomOf(file)), layers.indexOf(roomOf(target))];
      return from !== -1 && (to === -1 || to > from);
    });
    expect(upward.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  });

  it("have no way back from one to itself", () => {
    const edges = new Map<string, Set<string>>();
    for (const { file, target } of imports) {
      const [from, to] = [roomOf(file), roomOf(target)];
      if (from !== to) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
    const reachable = (from: string): ReadonlySet<string> => {
      const seen = new Set(edges.get(from));
      for (const room of seen) for (const next of edges.get(room) ?? []) seen.add(next);
      return seen;
    };
    expect([...edges.keys()].filter((room) => reachable(room).has(room))).toEqual([]);
  });
});

describe("the checks of steps", () => {
  it("are all in the table of check.ts, which no concern of a page loads", () => {
    const exported = globSync("**/*.ts", { cwd: src }).flatMap((file) =>
      [...readFileSync(join(src, file), "utf8").matchAll(/^export const (?<name>\w+ChangeChecks)\b/gm)].map(
        ({ groups }) => groups?.["name"] ?? "",
      ),
    );
    const table = /^const changes\b[\s\S]*?^\};$/m.exec(readFileSync(join(src, "check.ts"), "utf8"))?.[0] ?? "";
    expect(exported.length).toBeGreaterThan(10);
    expect(exported.filter((name) => !table.includes(name))).toEqual([]);
  });
});
