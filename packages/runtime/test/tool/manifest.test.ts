import { type Codec, parse, read, stringifyRecord } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";
import { describe, expect, it } from "vitest";
import { wire } from "../cases.ts";

const rewritten = (type: keyof typeof wire, text: string): string => {
  const codec = wire[type] as Codec<unknown>;
  const value = pipe(
    parse(text),
    E.chain((input) => read(codec, input)),
  );
  return E.isRight(value)
    ? stringifyRecord(codec.encode(value.right))
    : `${value.left.path.join(".")}: ${value.left.message}`;
};

const manifest =
  '{"id":"tool:t","name":"t","description":"d","compact_contract":"c","availability":{"base":"off"},"activation":"internal","availability_override":"callable","bindings":{"b":1},"argument_projection":{"kind":"preserve_projected_refs_in_field","field":"f"},"scheduling":"serial","retry_policy":{"type":"safe","max_attempts":3,"base_delay_ms":1,"max_delay_ms":2},"recovery":"rerunnable","durable":true,"hints":{"readonly":true}}';
const contract =
  '{"input_schema":{"type":"object"},"output_schema":null,"output_contract":{"kind":"from_input_schema","input_field":"f","default_schema":{}},"examples":[1]}';
const definition = `${manifest.slice(0, -1)},${contract.slice(1)}`;

describe("a tool's record", () => {
  it.each([
    ["ToolManifest", manifest],
    ["ToolManifest", '{"id":"tool:t","name":"t"}'],
    ["ToolContract", contract],
    ["ToolDefinition", definition],
  ] as const)("is written as it is read: %s %s", (type, text) => {
    expect(rewritten(type, text)).toBe(text);
  });

  it("leaves out defaults", () => {
    const plain = '{"id":"tool:t","name":"t"}';
    const spelled =
      '{"hints":{},"durable":false,"retry_policy":{"type":"never"},"scheduling":"parallel","argument_projection":{"kind":"materialize_projected_values"},"bindings":{},"activation":"always","availability":{"base":"showcased"},"description":"","name":"t","id":"tool:t"}';
    expect(rewritten("ToolManifest", spelled)).toBe(plain);
    const hinted = '{"id":"tool:t","name":"t","hints":{"readonly":false}}'; // An unset hint is not false.
    expect(rewritten("ToolManifest", hinted)).toBe(hinted);
    expect(rewritten("ToolContract", '{"input_schema_projections":{},"output_contract":{"kind":"static"}}')).toBe(
      '{"input_schema":{"additionalProperties":true,"properties":{},"type":"object"},"output_schema":null}',
    );
  });

  it("needs an id that is not blank", () => {
    expect(rewritten("ToolManifest", '{"id":" ","name":"t"}')).toBe("id: tool id must not be empty");
  });
});
