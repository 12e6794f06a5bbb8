/** Flows as text: parsed, checked, and given their first bindings from a request. */
import { type Program, ProgramCodec, problemOfProgram } from "@pawl/sansio-core/driver";
import { type Json, type JsonObject, formatPath, parse, read, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";

/** The place where a text is not a flow that can run, and the reason. */
export interface FlowMisfit {
  readonly path: string;
  readonly message: string;
}

/** Reads a flow from JSON text. */
export const readFlow = (text: string): E.Either<FlowMisfit, Program> => {
  const json = parse(text);
  const program = E.isLeft(json) ? json : read(ProgramCodec, json.right);
  if (E.isLeft(program)) return E.left({ path: formatPath(program.left.path), message: program.left.message });
  const problem = problemOfProgram(program.right);
  return problem === undefined ? program : E.left({ path: `$.${problem.path}`, message: problem.message });
};

/** Reads a flow from JSON text; throws where it is none, with the place. */
export const parseFlow = (text: string): Program => {
  const program = readFlow(text);
  if (E.isRight(program)) return program.right;
  throw new TypeError(`no flow that can run: ${program.left.message} at ${program.left.path}`);
};

/** The places of a request's parameters, in order of precedence. */
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

/** Binds each parameter to its value in the first place that has one; a parameter without a value stays unbound. */
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
