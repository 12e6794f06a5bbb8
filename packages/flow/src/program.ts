/** Flows as files and requests bring them: read, looked through, and given their first bindings. */
import { type Program, ProgramCodec, misfitOfProgram } from "@pawl/sansio-core";
import { type Json, type JsonObject, formatPath, parse, read, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

/** Why a text is no flow that can run: where in it, and what was wanted. */
export interface FlowMisfit {
  readonly path: string;
  readonly message: string;
}

/** The flow that a JSON text is. */
export const readFlow = (text: string): E.Either<FlowMisfit, Program> => {
  const program = E.chain((json: Json) => read(ProgramCodec, json))(parse(text));
  if (E.isLeft(program)) return E.left({ path: formatPath(program.left.path), message: program.left.message });
  const misfit = misfitOfProgram(program.right);
  return misfit === undefined ? program : E.left({ path: `$.${misfit.path}`, message: misfit.message });
};

/** Where the values of a request's parameters may stand, the first place first. */
export interface FlowRequest {
  readonly path?: { readonly [name: string]: string };
  readonly query?: { readonly [name: string]: string };
  readonly body?: Json;
}

const own = <A>(of: { readonly [name: string]: A } | undefined, name: string): A | undefined =>
  of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined;

const fieldsOf = (body: Json | undefined): JsonObject | undefined =>
  typeof body === "object" && body !== null && !Array.isArray(body) ? (body as JsonObject) : undefined;

const textOf = (json: Json): string => (typeof json === "string" ? json : json === null ? "" : stringify(json));

/** The first bindings of a flow: its parameters, from the first place that has each; one that none has is not bound. */
export const firstBindings = (
  parameters: readonly string[],
  { path, query, body }: FlowRequest,
): { readonly [name: string]: string } =>
  Object.fromEntries(
    parameters.flatMap((name) => {
      const field = own(fieldsOf(body), name);
      const value = own(path, name) ?? own(query, name) ?? (field === undefined ? undefined : textOf(field));
      return value === undefined ? [] : [[name, value]];
    }),
  );
