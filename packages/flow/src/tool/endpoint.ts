/** The text forms of a tool's declaration: its address and its timeout. */

const defaultMs = 30_000;
const duration = /^(?<count>[0-9]+)(?: *(?<unit>ms|s|m))?$/;
const units: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000 };

/** Parses `500ms`, `10s`, `2m` or bare seconds into milliseconds; returns 30 s for any other text. */
export const timeoutMs = (text: string): number => {
  const { count, unit = "s" } = duration.exec(text.trim())?.groups ?? {};
  const ms = count === undefined ? NaN : Number(count) * (units[unit] as number);
  return Number.isSafeInteger(ms) ? ms : defaultMs;
};

/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Returns the timeout of a tool as a timer takes it. */
export const timerMs = (text: string): number => Math.min(timeoutMs(text), longestTimerMs);

export const isHttp = (url: string): boolean => url.startsWith("http://") || url.startsWith("https://");

/** Returns the name in `stdio:{name}`, the address of an MCP server that the host starts itself. */
export const stdioName = (runtime: string): string | undefined =>
  runtime.trim().startsWith("stdio:") ? runtime.trim().slice("stdio:".length) : undefined;

/** Resolves a tool's address against a server's base. An absolute address is returned as it is, and so is any without a base. */
export const endpointOf = (runtime: string, tool: string, base: string): string => {
  const own = runtime.trim();
  if (isHttp(own) || base.trim() === "") return runtime;
  const root = base.trim().replace(/\/+$/, "");
  const slug = (own === "" ? tool : own).replace(/^\/+/, "");
  return slug === "" ? root : `${root}/${slug}`;
};
