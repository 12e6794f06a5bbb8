/** The ops of this package for the case runner. */
import { LlmRequest } from "../src/body/facet/host.ts";
import {
  ToolArgumentProjection,
  ToolContract,
  ToolDefinition,
  ToolId,
  ToolManifest,
  ToolOutputContract,
} from "../src/tool/manifest.ts";
import { contextAdapters } from "./cases/context.ts";
import { processAdapters } from "./cases/process.ts";
import { streamAdapters } from "./cases/stream.ts";

export const adapters = { ...contextAdapters, ...processAdapters, ...streamAdapters };
/** The codecs of the records that `wire.roundtrip` reads and writes. */
export const wire = {
  LlmRequest,
  ToolArgumentProjection,
  ToolContract,
  ToolDefinition,
  ToolId,
  ToolManifest,
  ToolOutputContract,
};
