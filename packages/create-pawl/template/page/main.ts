/** Books a trip. Load the page anew in the middle: it goes on. */
import { openTab } from "@pawl/driver-browser";
import { tripTool } from "./trip.ts";

const said = document.querySelector("#said") as HTMLElement;
const say = (text: string): void => void said.append(`${text}\n`);

const trip = tripTool(async (what, key) => {
  say(`booking the ${what}, under ${key}`);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  return what;
});

const tab = await openTab({ name: "trips", tools: [trip] });
const runtime = await tab.runtime();
const session = await runtime.session("me");

/** The request has a name that the page finds again, so that a reload joins it. */
const book = async (): Promise<void> => {
  localStorage.setItem("trip", localStorage.getItem("trip") ?? String(Date.now()));
  const booked = await session.call(trip, {}, { id: localStorage.getItem("trip") as string });
  say(`booked ${JSON.stringify(booked)}`);
  localStorage.removeItem("trip");
};

document.querySelector("#book")?.addEventListener("click", () => void book());
if (localStorage.getItem("trip") !== null) await book();
