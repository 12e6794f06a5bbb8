/** `llms.txt` and `llms-full.txt`: the site for coding agents, as one list and as one text. */
import { type Part, leadOf, partsOf, pathOf, textOf, titleOf } from "./page.ts";

const intro = `# pawl

> pawl runs the tool calls of AI agents, and the agents themselves, so that they survive crashes. It is a TypeScript library:
> no server to run, and a file or PostgreSQL for a journal.

Write a tool whose outside work is done in steps of \`ctx\`; open a runtime over a journal; call tools in a session under a request id.
A body that is interrupted runs again and is answered from its log, so it must ask for the same things in the same order.
`;

/** Decisions and the walk explain the code of pawl itself: agents that build on it do not need them. */
const isForUsers = (page: string): boolean => !page.startsWith("decisions/") && page !== "walk";

const listed = ({ title, pages }: Part): string =>
  [
    `## ${title}`,
    "",
    ...pages.filter(isForUsers).map((page) => `- [${titleOf(page)}](${pathOf(page)}.md): ${leadOf(page)}`),
  ].join("\n");

export const llmsText = (): string => `${[intro, ...partsOf().map(listed)].join("\n")}\n`;

export const llmsFullText = (): string => {
  const pages = partsOf()
    .flatMap(({ pages: all }) => all)
    .filter((page) => isForUsers(page) && !page.startsWith("api/"));
  return [intro, ...pages.map((page) => textOf(page).trimEnd())].join("\n\n---\n\n");
};
