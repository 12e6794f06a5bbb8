/** Bodies that run in worker threads, good and bad. */
import { ToolError, toolError } from "@pawl/runtime";
import { ok } from "@pawl/tool-value";
import type { IsolatedContext } from "../../src/index.ts";

export const doubled = ({ n }: { readonly n: number }, { progress, session }: IsolatedContext): unknown => {
  progress({ message: "at it", kind: "note" });
  return { doubled: 2 * n, session };
};

export const result = (): unknown => ok("a result");
export const refuses = (): unknown => toolError("not today");

export const throwsForModels = (): never => {
  throw new ToolError("the file is empty");
};
export const throws = (): never => {
  throw new Error("a secret of the tool");
};

export const loops = (): never => {
  for (;;);
};

/** Eats its heap. */
export const grows = (): never => {
  const eaten: number[][] = [];
  for (;;) eaten.push(Array.from({ length: 10_000 }, (_, i) => i));
};

/** Eats memory outside of its heap. */
export const buffers = async (): Promise<never> => {
  const eaten: Uint8Array[] = [];
  for (;;) {
    eaten.push(new Uint8Array(4 * 1024 * 1024).fill(1));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

export const dies = (): never => process.exit(7);

export const waits = (_: unknown, { signal }: IsolatedContext): Promise<string> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve("left")));

export const isNoBody = "a text";
