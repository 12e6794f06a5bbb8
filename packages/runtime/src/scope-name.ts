/** Names of scopes, as programs give them: each has to be found again, in logs and on screens. */
import { Refused } from "./error.ts";

/** The id of a session or a process, if it is one. */
export const admittedId = (what: "session" | "process", id: unknown): string => {
  if (typeof id === "string" && id.trim() !== "" && id.isWellFormed()) return id;
  const found = typeof id === "string" ? JSON.stringify(id) : typeof id;
  const wanted = "a text of whole characters that is not blank";
  throw new Refused("invalid_argument", `a ${what}'s id is expected to be ${wanted}, found ${found}`);
};
