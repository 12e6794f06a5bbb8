/** `@pawl/claude-agent`: sessions of the Claude Agent SDK on pawl. */
/** Opens a session for `query`: its tools, its approvals, its transcript, and the process that it runs in. */
export { type ClaudeSession, type ClaudeSessionOptions, claudeSession } from "./session.ts";
