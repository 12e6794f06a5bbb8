/** `@pawl/driver-browser`: pawl in a browser tab. */
export { type OpenTab, type OpenTabOptions, openTab } from "./open.ts";
export { BrowserJournalError, type BrowserJournalCode } from "./journal/error.ts";
export { type BrowserJournal, type BrowserJournalOptions, openBrowserJournal } from "./journal/journal.ts";
export { browserPlatform } from "./platform.ts";
export { type AttachedWorker, attachWorker } from "./worker/attach.ts";
