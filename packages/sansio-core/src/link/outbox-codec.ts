import { string } from "@pawl/tool-value";

export const outboxEvents = {
  "external.cancel_acked": { key: string },
  "wake.acked": { key: string },
  "session.told": { key: string },
} as const;
