/** Options that keep the SDK's process to itself: its home is a folder of the test, and it knows nobody but the model's server. */
import { join } from "node:path";
import type { Options } from "@anthropic-ai/claude-agent-sdk";

export const isolated = (home: string, url: string): Options => ({
  cwd: home,
  model: "claude-sonnet-4-5",
  settingSources: [],
  tools: [],
  env: {
    PATH: "/usr/bin:/bin",
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, "claude"),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
  },
});
