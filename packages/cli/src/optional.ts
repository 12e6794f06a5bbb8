/** Packages that the command line needs for some commands only: they are loaded when they are used. */
import { CliError, exit } from "./exit.ts";

const isMissing = (thrown: unknown, name: string): boolean =>
  thrown instanceof Error &&
  "code" in thrown &&
  (thrown.code === "ERR_MODULE_NOT_FOUND" || thrown.code === "MODULE_NOT_FOUND") &&
  thrown.message.includes(name);

/** Loads a package, or says which one to install. */
export const loaded = async <M>(name: string, what: string, load: () => Promise<M>): Promise<M> => {
  try {
    return await load();
  } catch (thrown) {
    if (!isMissing(thrown, name)) throw thrown;
    throw new CliError("package_missing", `${what} needs the package ${name}, which is not installed`, {
      exit: exit.usage,
      hint: `npm install ${name}`,
    });
  }
};
