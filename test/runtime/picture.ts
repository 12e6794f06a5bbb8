/** What tests leave behind to be looked at: pictures of pages, in a folder that is no part of the project. */
import type { Page } from "playwright-core";
import { pathOf } from "../project.ts";

export const takePicture = async (page: Page, name: string): Promise<void> => {
  await page.screenshot({ path: pathOf(`node_modules/.cache/pawl-pictures/${name}.png`) });
};
