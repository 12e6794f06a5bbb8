/**
 * The code of an older release, as far as a log can tell: that of today, whose core knows protocol 1 only. It differs in the
 * one line that says so, by which every check asks.
 */
const line = /export const newestProtocol: number = \d+;/;

/** Returns the source of a module as an older release has it. Throws where the core no longer says what it knows. */
export const olderSource = (file: string, source: string): string => {
  if (!file.endsWith("/sansio-core/src/kernel/protocol.ts")) return source;
  if (!line.test(source)) throw new Error(`${file} does not say which protocols the core knows`);
  return source.replace(line, "export const newestProtocol: number = 1;");
};
