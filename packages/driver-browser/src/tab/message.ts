/** What the tabs over one journal tell each other. */
import { type Codec, string, tagged, u64 } from "@pawl/tool-value";

export type TabMessage =
  /** These events are durable. */
  | { readonly type: "appended"; readonly scope: string; readonly seq: number }
  /** Is whoever writes there? */
  | { readonly type: "asked" }
  /** Whoever writes is there. */
  | { readonly type: "beat"; readonly writer: string }
  /** Whoever writes did not answer, and is about to be replaced. */
  | { readonly type: "stealing" };

export const TabMessage: Codec<TabMessage> = tagged<TabMessage, "type">("tab message", "type", {
  appended: { scope: string, seq: u64 },
  asked: {},
  beat: { writer: string },
  stealing: {},
});
