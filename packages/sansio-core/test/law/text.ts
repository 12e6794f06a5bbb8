/** Anything as text, so that two of it can be compared to the byte. */
export const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${part}n` : part)) ?? "undefined";
