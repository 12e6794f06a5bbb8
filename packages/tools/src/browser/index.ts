/** `@pawl/tools/browser`: what the tools have in a browser. */
export { BrowserFiles } from "./browser-files.ts";
