/** `@pawl/cli`: the command line, for programs that run it themselves. */
export { run } from "./run.ts";
export { type Streams } from "./terminal.ts";
