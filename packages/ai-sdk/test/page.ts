/** A page of the SDK, without a browser around it. */
import { AbstractChat, type ChatInit, type ChatState, type UIMessage } from "ai";

/** The state of a chat, without a page around it. */
class PlainState implements ChatState<UIMessage> {
  status: ChatState<UIMessage>["status"] = "ready";
  error: Error | undefined;
  messages: UIMessage[] = [];
  pushMessage = (message: UIMessage): void => void this.messages.push(message);
  popMessage = (): void => void this.messages.pop();
  replaceMessage = (at: number, message: UIMessage): void => void (this.messages[at] = message);
  snapshot = <T>(thing: T): T => structuredClone(thing);
}

export class Chat extends AbstractChat<UIMessage> {
  constructor(init: ChatInit<UIMessage>) {
    super({ ...init, state: new PlainState() });
  }
}

/** Says what a person reads of a message. */
export const readOf = ({ parts }: UIMessage): string =>
  parts
    .map((part) => {
      if (part.type === "text") return part.text;
      if (!part.type.startsWith("tool-")) return "";
      const { type, state, input, output, errorText } = part as {
        type: string;
        state: string;
        [field: string]: unknown;
      };
      return `[${type.slice(5)} ${JSON.stringify(input)} ${state}${output === undefined ? "" : ` ${JSON.stringify(output)}`}${errorText === undefined ? "" : ` ${String(errorText)}`}]`;
    })
    .join("");
