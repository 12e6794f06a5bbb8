/** Runtimes that are a program for scripts of modules: Node, Bun, Deno. The job comes and its answer goes as a file. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inFolder, kill, over, start } from "./child.ts";
import type { Guest, Job } from "./job.ts";

const programOf = ({ code, call }: Job): string =>
  `import { readFileSync, writeFileSync } from "node:fs";
${code}
const answer = await suite[${JSON.stringify(call)}](JSON.parse(readFileSync("argument.json", "utf8")));
writeFileSync("answer.json", JSON.stringify(answer));
`;

/** `args`: what the program is told before the name of the script. */
export const inProgram =
  (path: string, args: readonly string[] = []): Guest =>
  (job, within) =>
    inFolder(async (cwd) => {
      writeFileSync(join(cwd, "program.mjs"), programOf(job));
      writeFileSync(join(cwd, "argument.json"), JSON.stringify(job.argument));
      const { child, done } = start(path, [...args, "program.mjs"], { cwd });
      try {
        await Promise.race([done, over(within, path)]);
      } finally {
        await kill(child);
      }
      return JSON.parse(readFileSync(join(cwd, "answer.json"), "utf8")) as unknown;
    });
