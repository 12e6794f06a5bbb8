/** The model that ships with the demo: it plays the script of its scene, line by line. */
import type { Message, Model, Turn } from "./model.ts";

export interface Script {
  readonly task: string;
  readonly lines: readonly ((messages: readonly Message[]) => Turn)[];
}

const pauseMs = 350;

/** Picks the line by the number of answers so far, so that the same conversation always goes the same way. */
export const scriptedModel =
  ({ lines }: Script): Model =>
  async (messages) => {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const spoken = messages.filter(({ role }) => role === "model").length;
    return lines[spoken]?.(messages) ?? { text: "That is all.", calls: [] };
  };

export const trip: Script = {
  task: "Take three of us to Lviv for the weekend, and invite the others.",
  lines: [
    () => ({
      text: "I'll book the train and the rooms, and send the invitations, all in parallel.",
      calls: [
        { label: "train", tool: "book_train", args: { to: "Lviv", seats: 3 } },
        { label: "rooms", tool: "book_rooms", args: { city: "Lviv", nights: 2 } },
        { label: "mail", tool: "send_invitations", args: { to: ["ada", "grace"] } },
      ],
    }),
    (messages) => {
      const unsure = messages.some(
        (message) => message.role === "tool" && JSON.stringify(message.result).includes("unknown"),
      );
      const mail = unsure
        ? "It is unknown whether the invitations went out, so they were not sent again. Please ask Ada."
        : "The others have their invitation.";
      return { text: `Three seats and two nights are booked. ${mail}`, calls: [] };
    },
  ],
};

export const month: Script = {
  task: "Close the month: pay the venue, tell the team, and clean up the old drafts.",
  lines: [
    () => ({
      text: "Three things need your approval before I do them.",
      calls: [
        { label: "pay", tool: "pay", args: { to: "Harbour Hall", amount: 1200 } },
        { label: "post", tool: "post", args: { channel: "#team", text: "The venue is booked and paid." } },
        { label: "clean", tool: "delete_drafts", args: { older_than_days: 30 } },
      ],
    }),
    (messages) => {
      const results = messages.filter((message) => message.role === "tool").map(({ result }) => JSON.stringify(result));
      const declined = results.filter((text) => /reject|denied|declined/i.test(text)).length;
      const count = `${3 - declined} of 3`;
      return { text: `Done as you decided: ${count} went ahead.`, calls: [] };
    },
  ],
};
