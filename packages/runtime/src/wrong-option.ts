/**
 * What a program says of a runtime, looked at before it is one. Options of the core go into the log of every scope: one
 * that could not be read back would keep the scope closed for ever.
 */
import { Options, defaultOptions, invalidOption } from "@pawl/sansio-core";
import { describe, read } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { late } from "./late-part.ts";
import { admitNumbers, refusedOption } from "./number-option.ts";
import type { RuntimeOptions } from "./runtime-options.ts";

const admitCore = (options: Partial<Options>): void => {
  const known = Object.keys(defaultOptions);
  const stranger = Object.keys(options).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw refusedOption(`\`options.${stranger}\` is no option: expected some of ${known.join(", ")}`);
  const all = read(Options, { ...defaultOptions, ...options });
  if (E.isLeft(all)) throw refusedOption(`\`options\`: ${describe(all.left)}`);
  const invalid = invalidOption(all.right);
  if (invalid !== undefined) throw refusedOption(`\`options\`: ${invalid}`);
};

/**
 * The same options, if a runtime can be made of them; else what is wrong with one is thrown (`invalid_option`). What
 * no tab is told is looked at by code that pages need not load.
 */
export const admittedOptions = <A extends Partial<RuntimeOptions>>(options: A): A => {
  late.loaded?.admitSeldomOptions(options);
  const { patience, linger, blobChars } = options;
  admitCore(options.options ?? {});
  admitNumbers("", { blobChars });
  admitNumbers("patience.", patience);
  admitNumbers("linger.", linger);
  return options;
};
