/** Pages of one origin, with a script of the tests in them. */
import type { BrowserContext, Page } from "playwright-core";
import { build } from "rolldown";
import { pathOf } from "../../../test/project.ts";

export const origin = "http://localhost:1";

/** A script of the folder `page`, bundled: what it exports is the global `suite`. */
export const scriptOf = async (name: string): Promise<string> => {
  const { output } = await build({
    input: pathOf(`packages/driver-browser/test/page/${name}.ts`),
    platform: "browser",
    output: { format: "iife", name: "suite" },
    write: false,
    logLevel: "warn",
  });
  return output[0].code;
};

export const pageWith = async (within: BrowserContext, code: string): Promise<Page> => {
  const opened = await within.newPage();
  await opened.route(`${origin}/**`, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
  await opened.goto(origin);
  await opened.addScriptTag({ content: code });
  return opened;
};
