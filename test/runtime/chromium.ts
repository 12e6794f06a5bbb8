/** Chromium, as Debian has it; where there is none, what is said of it. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executablePath = process.env["PAWL_CHROMIUM"] ?? "/usr/bin/chromium";

export const hasChromium = existsSync(executablePath);
export const withoutChromium = `there is no Chromium at ${executablePath}: install Debian's \`chromium\`, or name one in PAWL_CHROMIUM`;

const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export const openChromium = (): Promise<Browser> => chromium.launch({ executablePath, headless: true, args });
