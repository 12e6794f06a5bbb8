import { claudeSession } from "@pawl/claude-agent";

console.log(typeof claudeSession);
