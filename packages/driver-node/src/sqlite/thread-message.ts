/** What a journal's thread is asked, and what it answers. */
import type { Journal, MoveStore } from "@pawl/runtime";
import { type JournalFileCode, JournalFileError } from "./file-error.ts";

export type Methods = Omit<Journal, "moves"> & MoveStore;
export type Method = keyof Methods;

/** `now` is the store's clock when the question was asked: what waits for the disk takes no lease for longer. */
export type Question =
  | {
      readonly type: "call";
      readonly id: number;
      readonly now: number;
      readonly method: Method;
      readonly args: unknown;
    }
  | { readonly type: "close"; readonly id: number };

export interface Wrong {
  readonly code: JournalFileCode | undefined;
  readonly message: string;
}

export type Answer =
  | { readonly type: "done"; readonly id: number; readonly value: unknown }
  | { readonly type: "thrown"; readonly id: number; readonly wrong: Wrong };

export const wrongOf = (thrown: unknown): Wrong => ({
  code: thrown instanceof JournalFileError ? thrown.code : undefined,
  message: thrown instanceof Error ? thrown.message : String(thrown),
});

export const errorOf = ({ code, message }: Wrong): Error =>
  code === undefined ? new Error(message) : new JournalFileError(code, message);
