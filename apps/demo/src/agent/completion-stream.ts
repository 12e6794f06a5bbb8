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
  readonly usage: TokenCounts | null;
}
interface TokenCounts {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
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
  usage: nullable(record<TokenCounts>("counts of tokens", { prompt_tokens: u64, completion_tokens: u64 })),
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

/** An answer that comes in pieces of text, of any size. */
export class CompletionStream {
  #rest = "";
  readonly #calls = new Map<number, WireCall>();
  content = "";
  usage: { readonly input_tokens?: number; readonly output_tokens?: number } = {};

  /** The calls so far, in their order. */
  get calls(): readonly WireCall[] {
    return [...this.#calls].toSorted(([a], [b]) => a - b).map(([, call]) => call);
  }

  /** Takes text of the stream; returns the words that are new. Whole lines are read, the rest waits. */
  feed(text: string): string {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    return this.#take(lines.join("\n"));
  }

  #take(text: string): string {
    let said = "";
    for (const { choices, usage } of piecesIn(text)) {
      const delta = choices[0]?.delta;
      said += delta?.content ?? "";
      for (const piece of delta?.tool_calls ?? [])
        this.#calls.set(piece.index, extended(this.#calls.get(piece.index), piece));
      if (usage !== null) this.usage = { input_tokens: usage.prompt_tokens, output_tokens: usage.completion_tokens };
    }
    this.content += said;
    return said;
  }
}

export const completionOfStream = (
  text: string,
): { readonly content: string; readonly tool_calls: readonly WireCall[] } => {
  const stream = new CompletionStream();
  stream.feed(`${text}\n`);
  return { content: stream.content, tool_calls: stream.calls };
};
