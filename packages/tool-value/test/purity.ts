/** Uses the package from end to end. The returned text is the same wherever it runs. */
import * as v from "../src/index.ts";
import { refusal, right } from "./expect.ts";

export const probe = (): string => {
  const picture = v.attachment({ id: "é😀", media_type: { kind: "image", type: "png" }, byte_len: 1 });
  const value = right(v.fromJs({ b: [1e21, 2n ** 70n, -0], a: picture, [v.tagKey]: "user" }));
  const text = v.canonicalJson(value);
  const back = right(v.decode(right(v.parse(text))));
  const output = v.ToolCallOutput.encode(v.successOutput(back));
  return [
    text,
    v.valueHash(value),
    v.equal(back, value),
    v.stringifyRecord(v.ModelToolReturn.encode(v.modelReturn("c", "t", v.errorOutput([text])))),
    v.stringifyRecord(v.ToolCallOutput.encode(right(v.read(v.ToolCallOutput, output)))),
    refusal(v.read(v.ToolCallOutput, { outcome: { status: "success", payload: { [v.tagKey]: 1 } } })),
    refusal(v.parse("[1,")),
  ].join("\n");
};
