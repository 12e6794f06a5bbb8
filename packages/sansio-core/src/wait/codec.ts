import { Resolution, array, optional, string } from "@pawl/tool-value";

export const waitEvents = {
  "wait.resolved": { key: string, resolution: Resolution, by: optional(string), resolution_id: optional(string) },
  "wait.cancelled": { call: string, key: string },
  "wait.revoked": { keys: array(string) },
} as const;
