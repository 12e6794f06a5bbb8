/** Checks the arguments of a call, whichever form their author has given them. */
import type { Json } from "@pawl/tool-value";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as E from "fp-ts/lib/Either.js";
import type * as t from "io-ts";
import { type JsonSchema, type Parameters, isIoTs, isStandard } from "./argument.ts";
import { mismatchesOf } from "./json-schema.ts";

/** The arguments as the body takes them, or why they do not fit: `{path}: {what was wanted}`. */
export type Checked = E.Either<string, unknown>;
export type Checker = (args: Json) => Promise<Checked>;

const path = (steps: readonly unknown[]): string =>
  steps.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : `${text}.${String(step)}`),
    "arguments",
  );

const ioTsChecker =
  <A>(codec: t.Type<A, unknown>): Checker =>
  async (args) =>
    E.mapLeft(([first]: t.Errors) => {
      const steps = (first?.context ?? []).slice(1).map(({ key }) => key);
      return `${path(steps)}: ${first?.message ?? `expected ${first?.context.at(-1)?.type.name ?? codec.name}`}`;
    })(codec.decode(args));

const standardChecker =
  (schema: StandardSchemaV1): Checker =>
  async (args) => {
    const result = await schema["~standard"].validate(args);
    const [first] = result.issues ?? [];
    if (first === undefined) return E.right("value" in result ? result.value : args);
    const steps = (first.path ?? []).map((step) => (typeof step === "object" ? step.key : step));
    return E.left(`${path(steps)}: ${first.message}`);
  };

/** The steps of a JSON pointer; one into a list is a number. */
const stepsOf = (pointer: string, root: Json): readonly unknown[] => {
  let at: unknown = root;
  return pointer
    .split("/")
    .slice(1)
    .map((raw) => {
      const step = decodeURIComponent(raw).replaceAll("~1", "/").replaceAll("~0", "~");
      const here = Array.isArray(at) ? Number(step) : step;
      at = typeof at === "object" && at !== null ? (at as { readonly [key: string]: unknown })[here] : undefined;
      return here;
    });
};

const schemaChecker = (schema: JsonSchema): Checker => {
  const mismatchOf = mismatchesOf(schema);
  return async (args) => {
    const mismatch = mismatchOf(args);
    return mismatch === undefined ? E.right(args) : E.left(`${path(stepsOf(mismatch.at, args))}: ${mismatch.why}`);
  };
};

/** What checks arguments; nothing is said of them, and nothing is checked. */
export const checkerOf = <A>(parameters: Parameters<A> | undefined): Checker => {
  if (parameters === undefined) return async (args) => E.right(args);
  if (isIoTs<A>(parameters)) return ioTsChecker(parameters);
  return isStandard(parameters) ? standardChecker(parameters) : schemaChecker(parameters);
};

/** The arguments of one call of a tool, as its body takes them. */
export const checkArgs = <A>(tool: { readonly parameters?: Parameters<A> }, args: Json): Promise<Checked> =>
  checkerOf(tool.parameters)(args);
