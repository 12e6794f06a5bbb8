/** Gives a process the core of an older release: `node --import` this before anything else is loaded. */
import { registerHooks } from "node:module";
import { olderSource } from "./source.ts";

const textOf = (source: string | ArrayBuffer | NodeJS.TypedArray): string =>
  typeof source === "string" ? source : new TextDecoder().decode(source);

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (loaded.source === null || loaded.source === undefined) return loaded;
    return { ...loaded, source: olderSource(url, textOf(loaded.source)) };
  },
});
