/** Bytes of attachments in a folder, under their ids: they are on disk before anything names them, and stay there. */
import type { AttachmentStore } from "@pawl/runtime";
import { diskBlobs } from "./disk.ts";

/** Nobody's in particular: the same bytes are one attachment, whichever scope puts them. */
const anyScope = "";

/** The folder is made when the first is put; several processes may share it. */
export const diskAttachments = (folder: string): AttachmentStore => {
  const blobs = diskBlobs(folder);
  return {
    put: (id, bytes) => blobs.put(anyScope, id, bytes),
    bytes: (id) => blobs.read(anyScope, id),
  };
};
