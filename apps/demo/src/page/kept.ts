/** Large values of a scene's journal in this browser, for logs that are saved: the worker that writes it may be dead. */
import type { BlobReader } from "@pawl/runtime";

export const keptIn = (scene: string): BlobReader => ({
  read: async (scope, name) => {
    const { openBrowserJournal } = await import("@pawl/driver-browser");
    const journal = await openBrowserJournal({ name: `pawl-demo-${scene}` });
    try {
      return await journal.blobs?.read(scope, name);
    } finally {
      journal.close();
    }
  },
});
