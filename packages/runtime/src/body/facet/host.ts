/** What a body asks of its host: answered once, and remembered. */
import type { Json } from "@pawl/tool-value";
import { type Asking, type Durable, durable, refusing, toJson, valueOf } from "./asking.ts";

export interface HostRequests {
  readonly host: (name: string, input: unknown) => Durable<Json>;
}

export const hostRequests = (asking: Asking): HostRequests => ({
  host: (name, input) => {
    const key = asking.nextName(`host:${name}`);
    return refusing(key, () => {
      const json = toJson(input, `the input of \`${name}\``);
      return durable(
        key,
        asking.ask(key, { kind: "host", name, input: json }, json).then(({ result }) => valueOf(result)),
      );
    });
  },
});
