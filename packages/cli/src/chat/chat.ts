/** `pawl chat`: talks to the agent of a session, and decides on what it asks. */
import { actOptions } from "../act/act.ts";
import type { Command } from "../command.ts";
import { usageError } from "../exit.ts";
import { Conversation } from "./conversation.ts";
import { withChatSession } from "./session.ts";

export const chatCommand: Command = {
  name: "chat",
  summary: "Talk to the agent of a session, and approve what it wants to do",
  usage: "<scope>",
  minArgs: 1,
  maxArgs: 1,
  options: {
    ...actOptions,
    agents: { type: "string", value: "<module>", what: "The module of agents and tools, without a host" },
    agent: { type: "string", value: "<name>", what: "The agent that answers (the session's own)" },
  },
  detail:
    "A line that is typed is said to the agent; its answer is printed as it comes. Calls that need approval are shown: y approves,\ne {…} approves with other arguments, n <reason> rejects. A budget that is reached is extended by + <n>, or ends the turn by stop.\nWhile the agent works, /join <words> says something in between, and /stop stops it; other lines are said when it is done.\n/quit or the end of the input leaves; what is under way goes on\nwith its host, and the next chat shows it. A module exports what `agentHost` of @pawl/agent returns, as `tools` and `host`.",
  json: [
    { what: "At the beginning", fields: "session, turn?" },
    { what: "What the agent says", fields: "frame, place" },
    { what: "A question to the person", fields: "asks" },
    { what: "The end of a turn", fields: "end" },
    { what: "What happens besides", fields: "note" },
  ],
  examples: [
    ["pawl chat alice --host ws://127.0.0.1:7777 --token $TOKEN", "with the agent of a host"],
    ["pawl chat journal.db#session:alice --agents ./agents.ts", "with the agents of a module, over a journal"],
    ["echo 'What is open?' | pawl chat alice -j journal.db --agents ./agents.ts", "one question"],
  ],
  run: async (input, terminal) => {
    const { lines } = terminal;
    if (lines === undefined) throw usageError("a chat needs an input to read lines from");
    return withChatSession(input, terminal, (session) =>
      new Conversation(session, terminal, lines, input.text("agent")).run(),
    );
  },
};
