/** The engine: everything that runs sessions in a page, as the one file that `open.ts` imports. */
export { openTab } from "./tab/tab.ts";
