/** Pages of one origin, with a script of the tests in them. */
import type { BrowserContext, Page } from "playwright-core";
import { build } from "rolldown";
import { pathOf } from "../project.ts";

export const origin = "http://localhost:1";

/** A script of the project, bundled: what it exports is the global `suite`. `changed` gives a module another source. */
export const scriptOf = async (
  file: string,
  changed: (file: string, source: string) => string = (_, source) => source,
): Promise<string> => {
  const { output } = await build({
    input: pathOf(file),
    platform: "browser",
    transform: { define: { "import.meta": "{}" } }, // A script that is no module has no place of its own.
    plugins: [{ name: "changed", transform: (source, id) => changed(id, source) }],
    output: { format: "iife", name: "suite" },
    write: false,
    logLevel: "warn",
  });
  return output[0].code;
};

/** The files that a page loads of a module and of what it imports; the first is its own. */
export const chunksOf = async (file: string): Promise<ReadonlyMap<string, string>> => {
  const { output } = await build({
    input: file,
    platform: "browser",
    output: { format: "esm" },
    write: false,
    logLevel: "warn",
  });
  return new Map(output.flatMap((one) => (one.type === "chunk" ? [[one.fileName, one.code] as const] : [])));
};

/** What a page may call of the test. */
interface Exposed {
  // oxlint-disable-next-line typescript/no-explicit-any -- what a page hands over has the types that its script says
  readonly [name: string]: (...of: any[]) => unknown;
}

export const pageWith = async (within: BrowserContext, code: string, exposed: Exposed = {}): Promise<Page> => {
  const opened = await within.newPage();
  await opened.route(`${origin}/**`, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
  await opened.goto(origin);
  for (const [name, call] of Object.entries(exposed)) await opened.exposeFunction(name, call);
  await opened.addScriptTag({ content: code });
  return opened;
};
