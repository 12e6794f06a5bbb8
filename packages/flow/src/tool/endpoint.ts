/** Where a tool is reached, and how long it may take: the text forms of its declaration. */

const defaultMs = 30_000;
const duration = /^(?<count>[0-9]+)(?: *(?<unit>ms|s|m))?$/;
const units: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000 };

/** `500ms`, `10s`, `2m` or bare seconds, in milliseconds; anything else is 30 s. */
export const timeoutMs = (text: string): number => {
  const { count, unit = "s" } = duration.exec(text.trim())?.groups ?? {};
  const ms = count === undefined ? NaN : Number(count) * (units[unit] as number);
  return Number.isSafeInteger(ms) ? ms : defaultMs;
};

export const isHttp = (url: string): boolean => url.startsWith("http://") || url.startsWith("https://");

/** The address of a program's tool under a server's base: its own where it is absolute, or there is no base. */
export const endpointOf = (runtime: string, tool: string, base: string): string => {
  const own = runtime.trim();
  if (isHttp(own) || base.trim() === "") return runtime;
  const root = base.trim().replace(/\/+$/, "");
  const slug = (own === "" ? tool : own).replace(/^\/+/, "");
  return slug === "" ? root : `${root}/${slug}`;
};
