/** `@pawl/tools/browser`: files in IndexedDB. */
export { BrowserFiles } from "./browser-files.ts";
