/** Reads what a module tells `pawl host`. */
import { type HostDefinition, defineHost } from "@pawl/driver-node";
import { type Exports, isTool, toolsIn } from "../module.ts";

const isObject = (one: unknown): one is object => typeof one === "object" && one !== null;

/** Reads the default export of a module, made by `defineHost`, or its exports `tools`, `host`, `options` and `background`. */
export const hostIn = (file: string, exports: Exports): HostDefinition => {
  const { default: whole, host, options, background } = exports;
  if (isObject(whole) && !isTool(whole)) {
    const definition = defineHost(whole as HostDefinition);
    return { ...definition, tools: toolsIn(file, { tools: definition.tools }) };
  }
  return defineHost({
    tools: toolsIn(file, exports),
    ...(isObject(host) && { host }),
    ...(isObject(options) && { options: options as NonNullable<HostDefinition["options"]> }),
    ...(isObject(background) && { background }),
  });
};
