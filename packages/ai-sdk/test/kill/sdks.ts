/** The SDKs whose servers are killed, and a life under each by a number. */
import { join } from "node:path";
import { Chance, type Life } from "./life.ts";
import { wholeText } from "./model-server.ts";

interface Sdk {
  /** The text that a life comes to. */
  readonly text: string;
  readonly life: (chance: Chance) => Life;
}

const programOf = (name: string): string => join(import.meta.dirname, `../../../${name}/test/kill/host.ts`);

export const sdks = {
  "ai-sdk": {
    text: wholeText,
    life: (chance) => ({
      api: chance.one(["chat", "responses", "messages"]),
      isStreamed: chance.below(3) > 0,
      kills: chance.kills(),
    }),
  },
  "openai-agents": {
    text: "All is done.",
    life: (chance) => ({
      api: chance.one(["chat", "responses"]),
      isStreamed: false,
      program: programOf("openai-agents"),
      more: chance.below(2) > 0 ? ["streamed"] : [],
      kills: chance.kills(),
    }),
  },
  "claude-agent": {
    text: "All is done.",
    life: (chance) => ({
      api: "messages",
      isStreamed: false,
      program: programOf("claude-agent"),
      kills: chance.kills(),
    }),
  },
} satisfies { readonly [name: string]: Sdk };

export type SdkName = keyof typeof sdks;

export const lifeUnder = (name: SdkName, seed: number): Life => sdks[name].life(new Chance(seed));
