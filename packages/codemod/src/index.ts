/** `@pawl/codemod`: rewrites programs of an older pawl to the names of a newer one. */
export { type Renaming, type Rewritten, rewrite } from "./rewrite.ts";
export { releases } from "./release.ts";
export { type Note, NotParsed, Source } from "./source.ts";
