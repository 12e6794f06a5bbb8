/** A tour of tool values in the terminal: `pnpm exec node examples/values.ts`. */
import {
  type ToolValue,
  attachment,
  canonicalJson,
  decode,
  describe,
  fromJs,
  lift,
  modelParts,
  parse,
  tagKey,
  valueHash,
} from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";

const show = (title: string, ...lines: readonly string[]): void =>
  console.log([`\n${title}`, ...lines.map((line) => `  ${line}`)].join("\n"));
const plain = (value: ToolValue): string => (typeof value === "bigint" ? `${value}n` : canonicalJson(value));

const picture = attachment({
  id: "3b1f…",
  media_type: { kind: "image", type: "png" },
  byte_len: 48_213,
  label: "chart",
});
const result: ToolValue = { summary: "revenue by month", chart: picture, rows: 9_007_199_254_740_993n };

show("A tool returns a value: JSON, exact integers, and attachments that stand for stored bytes.");
show("The log keeps its canonical text, keys sorted, the attachment as a tag:", canonicalJson(result));
show("Its hash is the hash of the text:", valueHash(result));
show(
  "A model reads it as parts, with the picture in its place:",
  ...modelParts(result).map((part) => (part.type === "text" ? part.text : `[${part.media_type.type} ${part.label}]`)),
);

const read = pipe(
  parse(canonicalJson(result)),
  E.chain((json) => decode(json)),
);
show("Read back, it is identical:", E.isRight(read) && valueHash(read.right) === valueHash(result) ? "yes" : "no");

const forged = lift({ [tagKey]: "attachment", ref: { id: "secret" } });
show("An object that only looks like an attachment stays an object, and is escaped:", canonicalJson(forged));

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;
const wrong: readonly (readonly [string, E.Either<Parameters<typeof describe>[0], ToolValue>])[] = [
  ["a text that ends too soon", parse('{"calls": [1, 2')],
  ["a date", fromJs({ due: [new Date(0)] })],
  ["NaN", fromJs({ ratio: Number.NaN })],
  ["a cycle", fromJs(cyclic)],
  ["a million brackets", parse("[".repeat(1_000_000))],
  ["a tag without its ref", decode({ [tagKey]: "attachment" })],
];
show(
  "An invalid value is an error, not an exception:",
  ...wrong.map(([what, answer]) => {
    const text = E.isLeft(answer) ? describe(answer.left) : plain(answer.right);
    return `${what}: ${text.length > 90 ? `${text.slice(0, 90)}…` : text}`;
  }),
);
