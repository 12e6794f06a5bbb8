/** `@pawl/http`: pawl over HTTP, as one function from web requests to web responses. */
import type { JsonObject } from "@pawl/tool-value";
import { openApiOf } from "./openapi/document.ts";
import { routes } from "./route/index.ts";

export { type HttpHandler, type HttpLimits, type HttpOptions, defaultHttpLimits, httpHandler } from "./handler.ts";
/** Writes the OpenAPI 3.1 document of the handler, served behind `base`. */
export const openApi = (base?: string): JsonObject => openApiOf(routes, base);
