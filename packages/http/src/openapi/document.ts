/** The OpenAPI 3.1 document of the routes: written from the routes themselves, and from the codecs of their bodies. */
import type { Json, JsonObject } from "@pawl/tool-value";
import { Problem } from "../problem.ts";
import { type Query, type Route, rightOf } from "../route/route.ts";
import { Schemas } from "./schema.ts";

const parametersOf = (place: "query" | "header", given: Query = {}): readonly Json[] =>
  Object.entries(given).map(([name, { what, type, required = false }]) => ({
    name,
    in: place,
    required,
    description: what,
    schema: { type },
  }));

const pathParametersOf = (path: string): readonly Json[] =>
  [...path.matchAll(/\{(?<name>\w+)\}/g)].map(({ groups }) => ({
    name: groups?.["name"] as string,
    in: "path",
    required: true,
    description: "Percent-encoded",
    schema: { type: "string" },
  }));

const answersOf = (route: Route, schemas: Schemas): JsonObject => {
  const answers = Object.entries(route.answers).map(([status, { what, body }]): [string, Json] => {
    if (route.events !== undefined) {
      const content = { "text/event-stream": { schema: { type: "string" }, "x-data": schemas.of(route.events) } };
      return [status, { description: what, content }];
    }
    const content = body === undefined ? {} : { content: { "application/json": { schema: schemas.of(body) } } };
    return [status, { description: what, ...content }];
  });
  const schema = schemas.of(Problem);
  return {
    ...Object.fromEntries(answers),
    default: { description: "A problem (RFC 9457)", content: { "application/problem+json": { schema } } },
  };
};

const operationOf = (route: Route, schemas: Schemas): JsonObject => {
  const right = rightOf(route);
  const parameters = [
    ...pathParametersOf(route.path),
    ...parametersOf("query", route.query),
    ...parametersOf("header", route.headers),
  ];
  return {
    operationId: route.name,
    summary: route.what,
    ...(right === undefined
      ? { security: [] }
      : { description: `Takes a token with the right \`${right}\`.`, security: [{ token: [] }] }),
    parameters,
    ...(route.body === undefined
      ? {}
      : { requestBody: { required: true, content: { "application/json": { schema: schemas.of(route.body) } } } }),
    responses: answersOf(route, schemas),
  };
};

const info = {
  title: "pawl over HTTP",
  version: "1",
  description: "Requests, replies, events, waits and approvals of a pawl host. Names in paths are percent-encoded.",
  license: { name: "MIT", identifier: "MIT" },
};

/** Writes the document of some routes, served behind `base`. */
export const openApiOf = (routes: readonly Route[], base = ""): JsonObject => {
  const schemas = new Schemas();
  const paths: { [path: string]: { [method: string]: Json } } = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route, schemas);
  return {
    openapi: "3.1.0",
    info,
    servers: [{ url: base === "" ? "/" : base }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer", description: "A token of the host" } },
      schemas: schemas.components,
    },
  };
};
