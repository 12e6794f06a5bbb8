import { array, optional, string } from "@pawl/tool-value";
import { SessionScope } from "../identity/session-scope.ts";
import { grantedFields } from "../message/codec.ts";

export const handleEvents = {
  "handle.granted": grantedFields,
  "handles.transferred": { from: SessionScope, to: SessionScope, processes: array(string) },
  "handles.revoked": { holder: SessionScope, processes: optional(array(string)) },
  "session.deleted": {},
} as const;
