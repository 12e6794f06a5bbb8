/** Scripted visits to the scenes of the demo, as a person would click through them, for tests and pictures. */
import type { Locator, Page } from "playwright-core";

/** The timeout on a slow machine. */
const patience = { timeout: 120_000 };

/** Called at the places of a visit where a picture is taken. */
export type At = (name: string) => Promise<void>;

export interface Visit {
  readonly id: string;
  /** The places of the visit, in order. */
  readonly places: readonly string[];
  readonly go: (page: Page, at: At) => Promise<void>;
}

const press = (page: Page | Locator, name: string | RegExp): Promise<void> =>
  page.getByRole("button", { name }).click(patience);

/** Presses a button as soon as the page shows an element. The wait runs in the page: a wait out here could come too late. */
export const pressDuring = (page: Page, shown: string, name: string): Promise<void> =>
  page.evaluate<void>(`new Promise((pressed) => {
    const look = () => {
      const found = [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "${name}");
      const isThere = document.querySelector(${JSON.stringify(shown)}) !== null;
      if (!isThere || found === undefined || found.disabled) return requestAnimationFrame(look);
      found.click();
      pressed();
    };
    look();
  })`);

const agentSays = (page: Page, words: string): Promise<void> =>
  page.locator(".said.agent", { hasText: words }).waitFor(patience);

const turn: Visit = {
  id: "turn",
  places: ["killed", "goes-on", "asks", "budget", "over"],
  go: async (page, at) => {
    await press(page, "Run the agent");
    await page.locator(".answer.speaks", { hasText: "Twelve people want a long table" }).waitFor(patience);
    await press(page, "Kill the worker");
    await page.locator(".verdict", { hasText: "The worker is dead, in mid-word." }).waitFor(patience);
    await at("killed");
    await page.locator(".verdict", { hasText: "It goes on in mid-word." }).waitFor(patience);
    await at("goes-on");
    const card = page.locator('.decision.asks[data-tool="pay_deposit"]');
    await card.getByLabel("amount").fill("350", patience);
    await at("asks");
    await press(card, "Approve with changes");
    await page.locator(".decision.budget").waitFor(patience);
    await at("budget");
    await press(page, "Allow one more");
    await agentSays(page, "350 € are paid to Harbour Hall");
    await press(page, "Swap the venue");
    await page.locator(".stage > .beside .answer.over", { hasText: "Mill House is free on Friday" }).waitFor(patience);
    await at("over");
  },
};

const kill: Visit = {
  id: "kill",
  places: ["killed", "survived", "over"],
  go: async (page, at) => {
    await press(page, "Run the agent");
    await pressDuring(page, '[data-step="send the mails"].doing', "Kill the worker");
    await at("killed");
    await page.locator(".verdict", { hasText: "It continues from the log" }).waitFor(patience);
    await at("survived");
    await agentSays(page, "Three seats and two nights are booked");
    await at("over");
  },
};

const ask: Visit = {
  id: "ask",
  places: ["asks", "over"],
  go: async (page, at) => {
    await press(page, "Run the agent");
    const card = (tool: string): Locator => page.locator(`.decision.asks[data-tool="${tool}"]`);
    await card("delete_drafts").waitFor(patience);
    await at("asks");
    await card("delete_drafts").getByLabel("older than days").fill("");
    await press(card("delete_drafts"), "Approve"); // An empty field is invalid.
    await card("delete_drafts").locator("input:invalid").waitFor(patience);
    await card("pay").getByLabel("amount").fill("-5");
    await press(card("pay"), "Approve with changes"); // An amount is above zero.
    await card("pay").locator("input:invalid").waitFor(patience);
    await card("pay").getByLabel("amount").fill("1200");
    await card("post").getByLabel("text").fill("Booked and paid: see you there!");
    await press(card("post"), "Approve with changes");
    await page.locator(".decision.approve_edited").waitFor(patience);
    await press(page, "Reload the page");
    await page.locator('.decision.approve_edited[data-tool="post"]').waitFor(patience);
    await press(card("delete_drafts"), "Reject");
    await press(card("pay"), "Approve");
    await agentSays(page, "Done as you decided: 2 of 3 went ahead.");
    await at("over");
  },
};

const explored = async (page: Page, what: string, verdict: string): Promise<void> => {
  await press(page, what);
  await page.locator(`.verdict.${verdict}`).waitFor(patience);
};

const order: Visit = {
  id: "order",
  places: ["harmed"],
  go: async (page, at) => {
    await explored(page, "Crash it everywhere", "safe");
    await page.getByLabel("At most once").check();
    await explored(page, "Crash it everywhere", "safe");
    await page.locator(".moment.unknown").first().waitFor(patience);
    await page.getByLabel("Forgets the key").check();
    await explored(page, "Try every order", "safe");
    await explored(page, "Crash it everywhere", "harmed");
    await page.locator(".moment.harm").first().click(patience);
    await page.getByRole("button", { name: "Next crash" }).waitFor(patience);
    await at("harmed");
  },
};

const walked = (mile: number): string => `[data-step="mile ${mile}"]:is(.tab, .host)`;

const move: Visit = {
  id: "move",
  places: ["host", "over"],
  go: async (page, at) => {
    await press(page, "Start walking");
    await pressDuring(page, walked(1), "Move it to the host");
    await page.locator(".road.host").waitFor(patience);
    await page.locator(".tooth.host").first().waitFor(patience);
    await at("host");
    await press(page, "Bring it back");
    await page.locator(".road.tab").waitFor(patience);
    await page.locator(".verdict", { hasText: "every mile was walked once" }).waitFor(patience);
    await at("over");
  },
};

const long: Visit = {
  id: "long",
  places: ["under-way"],
  go: async (page, at) => {
    const task = (title: string, state: string): Locator =>
      page.locator(`.task[data-state="${state}"]`, { hasText: title });
    await press(page, "Read an archive");
    await task("The harbour archive", "running").waitFor(patience);
    await press(page, "Read an archive");
    await press(page, "Remind me in six seconds");
    await task("Tide tables", "running").waitFor(patience);
    await page.locator(".task pre", { hasText: "page 2" }).first().waitFor(patience);
    await at("under-way");
    await pressDuring(page, ".task", "Kill the worker");
    await page.locator(".told li", { hasText: "Look at what the archives say" }).waitFor(patience);
    await task("The harbour archive", "running").getByRole("button", { name: "Cancel" }).click(patience);
    await task("The harbour archive", "canceled").waitFor(patience);
    await task("Tide tables", "succeeded").waitFor(patience);
  },
};

export const visits: readonly Visit[] = [turn, kill, ask, long, order, move];
