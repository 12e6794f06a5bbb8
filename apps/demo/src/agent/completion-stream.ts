/** Joins the pieces of a streamed answer. Some servers stream although the request says not to. */
import { type Codec, array, describe, nullable, parse, read, record, string, u64 } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { pipe } from "fp-ts/lib/function.js";

export interface WireCall {
  readonly id: string | null;
  readonly function: { readonly name: string; readonly arguments: string };
}
export const WireCallCodec: Codec<WireCall> = record<WireCall>("a tool call", {
  id: nullable(string),
  function: record<WireCall["function"]>("a function", { name: string, arguments: string }),
});

interface CallPiece {
  readonly index: number;
  readonly id: string | null;
  readonly function: { readonly name: string | null; readonly arguments: string | null } | null;
}
interface Piece {
  readonly choices: readonly {
    readonly delta: { readonly content: string | null; readonly tool_calls: readonly CallPiece[] | null };
  }[];
}
const CallPieceCodec: Codec<CallPiece> = record<CallPiece>("a piece of a tool call", {
  index: u64,
  id: nullable(string),
  function: nullable(
    record<NonNullable<CallPiece["function"]>>("a piece of a function", {
      name: nullable(string),
      arguments: nullable(string),
    }),
  ),
});
const PieceCodec: Codec<Piece> = record<Piece>("a piece of a completion", {
  choices: array(
    record<Piece["choices"][number]>("a choice", {
      delta: record<Piece["choices"][number]["delta"]>("a delta", {
        content: nullable(string),
        tool_calls: nullable(array(CallPieceCodec)),
      }),
    }),
  ),
});

const piecesIn = (text: string): readonly Piece[] =>
  text.split(/\r?\n/).flatMap((line) => {
    if (!line.startsWith("data:") || line.slice(5).trim() === "[DONE]") return [];
    const piece = pipe(
      parse(line.slice(5).trim()),
      E.chain((json) => read(PieceCodec, json)),
    );
    if (E.isLeft(piece))
      throw new Error(`the stream of the model's endpoint has another form: ${describe(piece.left)}`);
    return [piece.right];
  });

/** Adds a piece to the call that it belongs to. */
const extended = (call: WireCall | undefined, { id, function: of }: CallPiece): WireCall => ({
  id: call?.id ?? id,
  function: {
    name: (call?.function.name ?? "") + (of?.name ?? ""),
    arguments: (call?.function.arguments ?? "") + (of?.arguments ?? ""),
  },
});

export const completionOfStream = (
  text: string,
): { readonly content: string; readonly tool_calls: readonly WireCall[] } => {
  const calls = new Map<number, WireCall>();
  let content = "";
  for (const { choices } of piecesIn(text)) {
    const delta = choices[0]?.delta;
    content += delta?.content ?? "";
    for (const piece of delta?.tool_calls ?? []) calls.set(piece.index, extended(calls.get(piece.index), piece));
  }
  return { content, tool_calls: [...calls].toSorted(([a], [b]) => a - b).map(([, call]) => call) };
};
