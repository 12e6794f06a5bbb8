/** What SQLite throws at a write, as the port says it. */
import type { NotWritten } from "@pawl/runtime";
import { JournalFileError, fileError } from "./file-error.ts";

export const failure = (thrown: unknown, file: string): NotWritten => {
  const error = fileError(thrown, file);
  if (error instanceof JournalFileError && error.code === "full") return { type: "full" };
  return { type: "failed", message: error instanceof Error ? error.message : String(error) };
};
