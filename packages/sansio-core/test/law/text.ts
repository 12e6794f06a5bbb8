/** Anything as text, so that two of it can be compared to the byte. The keys of an object have no order: they are sorted. */
const sorted = (part: unknown): unknown => {
  if (typeof part === "bigint") return `${part}n`;
  if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};

export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => sorted(part)) ?? "undefined";
