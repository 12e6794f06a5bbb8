/** The engine: all that runs sessions in a page. It is one file, which `load-engine.ts` imports. */
export { openTab } from "./tab/tab.ts";
