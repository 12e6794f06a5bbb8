/** Where a log comes from: its text, in pieces, as far as there is any and on as it grows. */
import type { BlobReader } from "@pawl/runtime";

export interface Source {
  readonly name: string;
  readonly text: AsyncIterable<string>;
  /** Where the large values are that the log names: they go into the file that it is saved as. */
  readonly blobs?: BlobReader;
}

/** A long text goes piece by piece, so that its beginning is seen before its end has been handed over. */
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

/** A file that was dropped or chosen. */
export const fileSource = (file: File): Source => ({ name: file.name, text: decoded(file.stream()) });
