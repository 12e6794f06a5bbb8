/** A source of a log: its text in pieces, and the pieces to come while it grows. */
import type { BlobReader } from "@pawl/runtime";

export interface Source {
  readonly name: string;
  readonly text: AsyncIterable<string>;
  /** Reads the large values that the log names, for a saved file. */
  readonly blobs?: BlobReader;
}

/** The size of a piece: the beginning of a long text shows before its end has been passed on. */
const pieceSize = 1 << 18;

async function* piecesOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += pieceSize) yield text.slice(at, at + pieceSize);
}

/** Opens a log from its text. */
export const textSource = (name: string, text: string): Source => ({ name, text: piecesOf(text) });

async function* decoded(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read())
    yield decoder.decode(read.value, { stream: true });
  yield decoder.decode();
}

/** Reads a file that was dropped or chosen. */
export const fileSource = (file: File): Source => ({ name: file.name, text: decoded(file.stream()) });
