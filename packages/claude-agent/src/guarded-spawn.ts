/**
 * Starts the SDK's process so that it ends with the process that started it. Left alone it goes on after that was killed: it asks
 * the model once more, and nobody hears the answer. A shell stands between the two, and holds a pipe whose other end is here:
 *
 *   this process ── stdin, stdout ──► shell ──► claude
 *                ── pipe ──────────► watcher ──(the pipe has ended)──► kill claude
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { SpawnOptions, SpawnedProcess } from "@anthropic-ai/claude-agent-sdk";

const script = `
exec 4<&0 5>&2 2>/dev/null
"$@" 0<&4 2>&5 3<&- 4<&- 5>&- &
child=$!
exec 0</dev/null 4<&- 5>&-
trap 'kill -TERM $child' TERM INT HUP
{ read -r _ <&3; kill -KILL $child; } >/dev/null 5>&- &
watcher=$!
exec 3<&-
while :; do wait $child; code=$?; kill -0 $child || break; done
kill $watcher
exit $code
`;

/** Ends the process at once: the shell cannot pass that on, so the watcher does it. */
const killing = (child: ChildProcess): ChildProcess => {
  const kill = child.kill.bind(child);
  child.kill = (signal) => {
    if (signal === "SIGKILL" || signal === 9) child.stdio[3]?.destroy();
    return kill(signal);
  };
  return child;
};

export const guardedSpawn =
  (more: Readonly<Record<string, string>>) =>
  ({ command, args, cwd, env, signal }: SpawnOptions): SpawnedProcess => {
    const options = { ...(cwd === undefined ? {} : { cwd }), env: { ...env, ...more }, signal };
    if (process.platform === "win32") return spawn(command, args, { ...options, stdio: ["pipe", "pipe", "inherit"] });
    const shell = ["-c", script, "sh", command, ...args];
    const child = spawn("/bin/sh", shell, { ...options, stdio: ["pipe", "pipe", "inherit", "pipe"] });
    return killing(child) as SpawnedProcess;
  };
