/** A loader hook that applies a mutant's change when its file is imported. */
import { registerHooks } from "node:module";
import { mutants } from "./mutants.ts";

const mutant = mutants.find(({ what }) => what === process.env["PAWL_MUTANT"]);
if (mutant === undefined) throw new Error(`no mutant is called \`${process.env["PAWL_MUTANT"]}\``);
const { file, find, replace } = mutant;

registerHooks({
  load: (url, context, nextLoad) => {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(`/packages/${file}`)) return loaded;
    return { ...loaded, source: String(loaded.source).replace(find, () => replace) };
  },
});
