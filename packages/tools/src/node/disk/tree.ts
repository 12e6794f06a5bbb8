/** Operations on a whole tree below a folder on disk. */
import { FileError } from "../../file/store.ts";
import { foldedName, isNameable, isTemporary } from "./disk-name.ts";
import { type Folder, within } from "./folder.ts";

/** Refuses a new name that some file systems would take for an existing one. */
export const refuseTwin = async (folder: Folder, name: string): Promise<void> => {
  const folded = foldedName(name);
  const twin = (await folder.names()).find((other) => other !== name && foldedName(other) === folded);
  if (twin === undefined) return;
  const names = `some disks take ${JSON.stringify(name)} and ${JSON.stringify(twin)} for the same name`;
  throw new FileError("path", `Invalid path: ${names}: use the existing one`);
};

export const refuseFull = async (folder: Folder): Promise<void> => {
  const names = await folder.names();
  if (names.some((name) => !isTemporary(name))) {
    throw new FileError("not_empty", "Directory is not empty. Use recursive=true to delete");
  }
  for (const name of names) await folder.unlink(name);
};

/** Empties a folder. Links are removed, never followed. */
export const emptied = async (folder: Folder): Promise<void> => {
  for (const name of await folder.names()) {
    const found = await folder.listed(name);
    const inner = found?.isDirectory() === true ? await folder.folder(name) : undefined;
    if (inner === undefined) await folder.unlink(name);
    else {
      await within(inner, emptied);
      await folder.removeFolder(name);
    }
  }
  await folder.sync();
};

type Visit = (folder: Folder, name: string, path: string) => Promise<void>;

/** Visits every file below a folder that a path can name. */
export const eachFile = async (folder: Folder, path: string, visit: Visit): Promise<void> => {
  for (const name of (await folder.names()).filter(isNameable)) {
    const found = await folder.listed(name);
    const inner = found?.isDirectory() === true ? await folder.folder(name) : undefined;
    if (inner !== undefined) await within(inner, () => eachFile(inner, `${path}/${name}`, visit));
    else if (found?.isFile() === true) await visit(folder, name, `${path}/${name}`);
  }
};
