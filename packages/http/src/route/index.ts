/** All routes, in the order of the OpenAPI document, which is one of them. */
import { stringify } from "@pawl/tool-value";
import { openApiOf } from "../openapi/document.ts";
import { approvalRoutes } from "./approval.ts";
import { eventRoutes } from "./event.ts";
import { loginRoutes } from "./login.ts";
import { requestRoutes } from "./request.ts";
import { type Route, route } from "./route.ts";
import { sessionRoutes } from "./session.ts";
import { turnRoutes } from "./turn.ts";
import { waitRoutes } from "./wait.ts";

const documentRoute = route({
  method: "GET",
  path: "/v1/openapi.json",
  name: "getOpenApi",
  what: "Returns this document.",
  answers: { 200: { what: "The document" } },
  act: async ({ base }) =>
    new Response(stringify(openApiOf(routes, base)), { headers: { "content-type": "application/json" } }),
});

export const routes: readonly Route[] = [
  ...sessionRoutes,
  ...requestRoutes,
  ...turnRoutes,
  ...eventRoutes,
  ...approvalRoutes,
  ...waitRoutes,
  ...loginRoutes,
  documentRoute,
];
