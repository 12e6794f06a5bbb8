/** What a page does seldom, and loads when it does it first. It is there before its transaction begins, which waits for nothing else. */
export { type Adopted, adopt, decline, index } from "./move.ts";
export { keepSnapshot, retain } from "./retention.ts";
export { awaitingApproval, verify } from "./seldom-look.ts";
