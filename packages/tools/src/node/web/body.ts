/** The body of a response, decompressed while it is read, within limits of size and time. */
import type { IncomingMessage } from "node:http";
import { type Readable, pipeline } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { WebFailure, bodyFailureOf } from "./web-failure.ts";

export interface Body {
  readonly bytes: Uint8Array;
  readonly end: "whole" | "too_large" | "timed_out";
}

const decoders: { readonly [encoding: string]: typeof createGunzip | typeof createBrotliDecompress } = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const decompressed = (message: IncomingMessage): Readable => {
  const encoding = (message.headers["content-encoding"] ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return message;
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (decoder === undefined) {
    message.destroy();
    throw new WebFailure(`Fetch error: the content encoding ${JSON.stringify(encoding)} is not supported`);
  }
  // An error of any stage surfaces on the last stream, which is read.
  return pipeline(message, decoder(), () => undefined);
};

export const readBody = async (
  message: IncomingMessage,
  { maxBytes, bodyMs }: { readonly maxBytes: number; readonly bodyMs: number },
): Promise<Body> => {
  const stream = decompressed(message);
  const chunks: Buffer[] = [];
  let size = 0;
  let end: Body["end"] = "whole";
  const timer = setTimeout(() => {
    end = "timed_out";
    stream.destroy();
  }, bodyMs);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) {
        end = "too_large";
        break;
      }
    }
  } catch (error) {
    if (end === "whole") throw bodyFailureOf(error);
  } finally {
    clearTimeout(timer);
    message.destroy();
  }
  return { bytes: new Uint8Array(Buffer.concat(chunks).subarray(0, maxBytes)), end };
};
