/**
 * The engine as a file of its own: a page downloads it when it opens its first tab, and not at its start.
 *
 * A browser remembers for as long as the page lives that the import of a file has failed, and fails every later import
 * of the same address without asking the network again. After a failure the engine is therefore asked for under its
 * address with a fragment that is new each time; the browser names the address in its error.
 */
import type * as engine from "./engine.ts";

export type Engine = typeof engine;

const addressIn = (thrown: unknown): string | undefined =>
  thrown instanceof TypeError ? /\bhttps?:\S+$/.exec(thrown.message)?.[0] : undefined;

let address: string | undefined;
let failures = 0;

const loadAgain = (): Promise<Engine> =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ `${address}#${failures}`) as Promise<Engine>;

/** Loads the engine. Fails where its file cannot be had; the next call asks for it again. */
export const loadEngine = async (): Promise<Engine> => {
  try {
    return await (address === undefined ? import("./engine.ts") : loadAgain());
  } catch (thrown) {
    address ??= addressIn(thrown);
    failures += 1;
    throw thrown;
  }
};
