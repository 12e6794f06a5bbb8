/** Prints the results as a table, and checks that pawl leads by the required factors. */
import type { Measured } from "./workload.ts";

export type Row = Measured & { readonly version: string; readonly durability: string };
export interface Results {
  readonly [system: string]: Row | { readonly failed: string };
}

export const isRow = (result: Results[string] | undefined): result is Row =>
  result !== undefined && !("failed" in result);

type Workload = "sequence" | "crowd" | "long" | "p50" | "p99" | "resume" | "parked";
interface Column {
  readonly name: Workload;
  readonly title: string;
  readonly isLessBetter: boolean;
}
const columns: readonly Column[] = [
  { name: "sequence", title: "100 x 10, steps/s", isLessBetter: false },
  { name: "crowd", title: "200 x 10, 32 at once", isLessBetter: false },
  { name: "long", title: "1 x 1,000, steps/s", isLessBetter: false },
  { name: "p50", title: "1 step p50, ms", isLessBetter: true },
  { name: "p99", title: "p99, ms", isLessBetter: true },
  { name: "resume", title: "resume 1,000, ms", isLessBetter: true },
  { name: "parked", title: "KB a parked run", isLessBetter: true },
];

const digits = (n: number | undefined): string => (n === undefined ? "–" : `${Number(n.toPrecision(3))}`);
const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const padded = (cells: readonly string[]): string => line(cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)));
  return [padded(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(padded)].join("\n");
};

/** Returns how many times better pawl is; above one it leads. */
const aheadOf = (pawl: Row, other: Row, { name, isLessBetter }: Column): number | undefined => {
  const [mine, theirs] = [pawl[name], other[name]];
  if (mine === undefined || theirs === undefined) return undefined;
  return isLessBetter ? theirs / mine : mine / theirs;
};

export const figures = (results: Results): string =>
  table(
    ["system", ...columns.map(({ title }) => title), "floor, inserts/s", "100 x 10 of floor"],
    Object.entries(results).map(([name, result]) =>
      isRow(result)
        ? [name, ...columns.map((column) => digits(result[column.name])), digits(result.floor), digits(result.ofFloor)]
        : [name, result.failed],
    ),
  );

/** Returns how many times better pawl is than each of the others. */
export const ratios = (results: Results): string => {
  const { pawl } = results;
  if (!isRow(pawl)) return "no ratios: pawl was not measured";
  const others = Object.entries(results).filter(([name, result]) => name !== "pawl" && isRow(result));
  return table(
    ["pawl is ahead of", ...columns.map(({ title }) => title.replace(/, (?:steps\/s|ms)$/, ""))],
    others.map(([name, other]) => [name, ...columns.map((column) => digits(aheadOf(pawl, other as Row, column)))]),
  );
};

/** Describes what each system syncs, and where sizes are reduced. */
export const conditions = (results: Results): string =>
  Object.entries(results)
    .flatMap(([name, result]) => {
      if (!isRow(result)) return [];
      const sizes = Object.entries(result.sizes).map(([what, size]) => `${what} ${size}`);
      const reduced = sizes.length === 0 ? "" : `; measured at reduced sizes: ${sizes.join(", ")}`;
      return [`- ${name} ${result.version}: ${result.durability}${reduced}`];
    })
    .join("\n");

interface Demand {
  readonly of: string;
  readonly columns: readonly Workload[];
  readonly atLeast: number;
}
const all = columns.map(({ name }) => name);
const demands: readonly Demand[] = [
  { of: "restate", columns: all, atLeast: 1 },
  { of: "dbos", columns: all, atLeast: 1 },
  { of: "vercel", columns: all, atLeast: 1 },
  { of: "restate", columns: ["crowd", "p50"], atLeast: 5 },
  { of: "dbos", columns: ["crowd", "p50"], atLeast: 5 },
  { of: "xstate", columns: ["crowd", "long"], atLeast: 1 },
  { of: "restate", columns: ["parked"], atLeast: 2 },
  { of: "dbos", columns: ["parked"], atLeast: 2 },
  { of: "vercel", columns: ["parked"], atLeast: 2 },
  { of: "xstate", columns: ["parked"], atLeast: 2 },
];

/** Minimum ratio to the floor measured in turns with it, one call at a time. */
const leastOfFloor = 0.75;

/** Returns the requirements that do not hold or cannot be checked. */
export const shortfalls = (results: Results): readonly string[] => {
  const { pawl } = results;
  if (!isRow(pawl)) return ["pawl was not measured"];
  const beside =
    pawl.ofFloor >= leastOfFloor ? [] : [`100 x 10: ${digits(pawl.ofFloor)} of the floor, wanted ${leastOfFloor}`];
  const behind = demands.flatMap(({ of, columns: names, atLeast }) => {
    const other = results[of];
    if (!isRow(other)) return [`${of} was not measured`];
    return columns
      .filter(({ name }) => names.includes(name))
      .flatMap((column) => {
        const ahead = aheadOf(pawl, other, column);
        return ahead === undefined || ahead >= atLeast
          ? []
          : [`${column.title}: ${digits(ahead)} times ${of}, wanted ${atLeast}`];
      });
  });
  return [...beside, ...behind];
};
