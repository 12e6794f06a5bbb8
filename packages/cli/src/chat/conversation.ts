/**
 * A conversation on a terminal: what a person types becomes a turn, what the agent says is printed as it comes, and what a
 * turn waits for is asked of the person. Nothing of it is kept here: a conversation that is left goes on in its session, and is
 * found where it is by the next one.
 */
import { type BudgetStatus, type TurnFrame, turnCursorAfter } from "@pawl/runtime/driver";
import type { TurnEnd } from "@pawl/sansio-core/driver";
import { type Json, parse, stringify } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { setTimeout as pause } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { type Exit, exit } from "../exit.ts";
import type { Terminal } from "../terminal.ts";
import type { ChatApproval, ChatSession } from "./session.ts";

/** How often the session is asked what it waits for. */
const lookEveryMs = 250;

/** Lines that a person types, taken one by one; some are put off until a turn is over. */
class Typed {
  readonly #lines: AsyncIterator<string>;
  readonly #later: string[] = [];
  #next: Promise<string | undefined> | undefined;
  #isOver = false;

  constructor(lines: AsyncIterable<string>) {
    this.#lines = lines[Symbol.asyncIterator]();
  }

  /** The input is at its end. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The next line, or undefined at the end; the same until `take`. */
  async peek(): Promise<string | undefined> {
    this.#next ??= this.#lines.next().then(({ done, value }) => (done === true ? undefined : value));
    const line = await this.#next;
    this.#isOver ||= line === undefined;
    return line;
  }

  take(): void {
    if (!this.#isOver) this.#next = undefined;
  }

  putOff(line: string): void {
    this.#later.push(line);
  }

  /** Takes the oldest line that was put off. */
  putOffFirst(): string | undefined {
    return this.#later.shift();
  }
}

interface Question {
  readonly key: string;
  readonly lines: readonly string[];
  /** Returns what is wrong with an answer, if it is no decision. */
  readonly answer: (line: string) => Promise<string | undefined>;
}

const refusalOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Acts on a decision; a refusal is told to the person, who may decide again. */
const tried = async (decision: Promise<void>): Promise<string | undefined> =>
  decision.then(
    () => undefined,
    (thrown: unknown) => refusalOf(thrown),
  );

/** A session that nobody has begun yet has no budget. */
const noBudget = (): Partial<BudgetStatus> => ({});

const approvalHelp = "y approves, e {…} approves with other arguments, n <reason> rejects";

const approvalQuestion = ({ call, tool, args, approve, reject }: ChatApproval): Question => ({
  key: `${call} ${stringify(args)}`,
  lines: [`needs approval: ${tool} ${stringify(args)}`, approvalHelp],
  answer: async (line) => {
    const [word = "", ...rest] = line.trim().split(/\s+/u);
    const said = line.trim().slice(word.length).trim();
    if (word === "y" && rest.length === 0) return tried(approve());
    if (word === "n") return tried(reject(said === "" ? "rejected in a chat" : said));
    if (word !== "e") return approvalHelp;
    const json = parse(said);
    return E.isRight(json) ? tried(approve(json.right)) : `the arguments are no JSON: ${json.left.message}`;
  },
});

export class Conversation {
  readonly #session: ChatSession;
  readonly #terminal: Terminal;
  readonly #typed: Typed;
  readonly #agent: string | undefined;
  /** Questions that were put, by their keys. */
  readonly #asked = new Set<string>();
  /** Aborts when the person leaves. */
  readonly #left = new AbortController();
  #question: Question | undefined;
  #isInLine = false;

  constructor(session: ChatSession, terminal: Terminal, lines: AsyncIterable<string>, agent: string | undefined) {
    this.#session = session;
    this.#terminal = terminal;
    this.#typed = new Typed(lines);
    this.#agent = agent;
    terminal.interrupted.addEventListener("abort", () => this.#left.abort(), { once: true });
  }

  /** Talks until the person leaves. */
  async run(): Promise<Exit> {
    await this.#resume();
    while (!this.#left.signal.aborted) {
      const line = await this.#line();
      if (line === undefined) break;
      if (line.trim() === "") continue;
      if (line.trim() === "/quit") break;
      await this.#say(line);
    }
    return exit.fine;
  }

  /** Waits for a line; undefined at the end of the input, or when the person leaves. */
  async #line(): Promise<string | undefined> {
    const later = this.#typed.putOffFirst();
    if (later !== undefined) return later;
    const { signal } = this.#left;
    const left = new Promise<undefined>((resolve) => {
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    const line = signal.aborted ? undefined : await Promise.race([this.#typed.peek(), left]);
    this.#typed.take();
    return line;
  }

  /** Goes on with the turn that is under way, if there is one. */
  async #resume(): Promise<void> {
    const { turn } = await this.#session.budget().catch(noBudget);
    const { name: session } = this.#session;
    this.#terminal.print({ session, turn }, () => []);
    if (turn === undefined) return;
    this.#note(`turn ${turn} goes on`);
    await this.#follow(turn, undefined);
  }

  async #say(text: string): Promise<void> {
    const request = `chat-${crypto.randomUUID()}`;
    const options = this.#agent === undefined ? {} : { agent: this.#agent };
    await this.#follow(request, this.#session.turn(request, text, options));
  }

  /** Follows a turn until it is over, and asks what it waits for on the way. */
  async #follow(request: string, ending: Promise<TurnEnd> | undefined): Promise<void> {
    const { signal: left } = this.#left;
    const over = new AbortController();
    const refused = ending?.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    void refused?.then((thrown) => thrown !== undefined && over.abort());
    const reading = this.#read(request, AbortSignal.any([over.signal, left]));
    await Promise.all([reading, this.#ask(request, reading)]);
    if (left.aborted) return this.#note("the turn goes on without you: chat again to see it");
    const thrown = await refused;
    if (thrown !== undefined) this.#note(this.#terminal.paint("red", refusalOf(thrown)));
    else if (ending !== undefined) this.#ended(await ending);
    return undefined;
  }

  async #read(request: string, signal: AbortSignal): Promise<void> {
    const from = { n: 1, attempt: 1, at: 0 };
    for await (const frame of this.#session.readTurn(request, { from, signal })) this.#tell(frame);
    this.#endLine();
  }

  #tell(frame: TurnFrame): void {
    const { isJson, paint } = this.#terminal;
    if (isJson) return this.#terminal.print({ frame, place: turnCursorAfter(frame) }, () => []);
    switch (frame.type) {
      case "text":
        this.#isInLine = true;
        return this.#terminal.write(frame.of === undefined ? frame.text : paint("dim", frame.text));
      case "part":
        if (frame.part.type === "text") return this.#terminal.write(frame.part.text);
        if (frame.part.type === "tool-call")
          this.#note(paint("dim", `calls ${frame.part.tool} ${stringify(frame.part.args ?? null)}`));
        return undefined;
      case "reset":
        return this.#note(paint("dim", frame.keep === 0 ? "begins again:" : `goes on from letter ${frame.keep}:`));
      case "answered":
      case "cut":
        return this.#endLine();
    }
  }

  #endLine(): void {
    if (this.#isInLine && !this.#terminal.isJson) this.#terminal.write("\n");
    this.#isInLine = false;
  }

  #note(line: string): void {
    this.#endLine();
    if (this.#terminal.isJson) this.#terminal.print({ note: stripVTControlCharacters(line) }, () => []);
    else this.#terminal.note(line);
  }

  #ended(end: TurnEnd): void {
    if (this.#terminal.isJson) return this.#terminal.print({ end }, () => []);
    const { paint } = this.#terminal;
    if (end.status === "stopped") this.#note(paint("yellow", `stopped: ${end.because}`));
    if (end.status === "failed")
      this.#note(paint("red", `failed: ${end.code}${end.message === undefined ? "" : `: ${end.message}`}`));
    return undefined;
  }

  /** Puts questions to the person while the turn is read, and takes what is typed meanwhile. */
  async #ask(request: string, reading: Promise<void>): Promise<void> {
    const ended = new AbortController();
    const over = reading.finally(() => ended.abort());
    while (!ended.signal.aborted && !this.#left.signal.aborted) {
      this.#question ??= await this.#nextQuestion();
      const answer = this.#isInteractive || this.#question === undefined ? undefined : this.#typed.putOffFirst();
      if (answer !== undefined) await this.#meanwhile(request, answer);
      else if (this.#question !== undefined && this.#typed.isOver) this.#left.abort(); // Nobody is there to decide.
      else await this.#listen(request, over);
    }
  }

  /** Waits for a line, for the end of the turn, or until the session is to be asked again. */
  async #listen(request: string, over: Promise<void>): Promise<void> {
    const rest = [over, pause(lookEveryMs, undefined)];
    const typed = this.#typed.isOver ? [] : [this.#typed.peek()];
    const line = await Promise.race([...typed, ...rest]);
    if (typeof line !== "string") return;
    this.#typed.take();
    await this.#meanwhile(request, line);
  }

  /** Says if a person sits at the terminal, and reads before typing. */
  get #isInteractive(): boolean {
    return this.#terminal.redraw !== undefined;
  }

  /** Takes a line that is typed while a turn runs: a decision, a stop, words that join it, or what comes after it. */
  async #meanwhile(request: string, line: string): Promise<void> {
    const words = line.trim();
    if (words === "/stop") return this.#session.stop(request);
    if (words.startsWith("/join ")) return this.#join(words.slice("/join ".length));
    if (this.#question === undefined) return this.#typed.putOff(line);
    const wrong = await this.#question.answer(line);
    if (wrong === undefined) this.#question = undefined;
    else this.#note(wrong);
    return undefined;
  }

  #join(words: string): void {
    const joined = this.#session.turn(`chat-${crypto.randomUUID()}`, words, { whenBusy: "join" });
    joined.catch((thrown: unknown) => this.#note(refusalOf(thrown)));
  }

  /** Finds what the session waits for that was not asked yet, and asks it. */
  async #nextQuestion(): Promise<Question | undefined> {
    const approvals = await this.#session.approvals().catch(() => []);
    const questions = [...approvals.map(approvalQuestion), ...(await this.#budgetQuestion())];
    const question = questions.find(({ key }) => !this.#asked.has(key));
    if (question === undefined) return undefined;
    this.#asked.add(question.key);
    if (this.#terminal.isJson) this.#terminal.print({ asks: question.lines }, () => []);
    else for (const line of question.lines) this.#note(this.#terminal.paint("cyan", line));
    return question;
  }

  async #budgetQuestion(): Promise<readonly Question[]> {
    const { parked } = await this.#session.budget().catch(noBudget);
    if (parked === undefined) return [];
    const { ask, reached } = parked;
    const words = reached.map(({ of, what, used, limit }) => `${what} of the ${of} (${used} of ${limit})`).join(", ");
    const help = "+ <n> adds so much to each of them, stop ends the turn";
    const answer = async (line: string): Promise<string | undefined> => {
      if (line.trim() === "stop") return tried(this.#session.decideBudget(ask, "stop"));
      const amount = /^\+\s*(?<n>\d+)$/u.exec(line.trim())?.groups?.["n"];
      if (amount === undefined) return help;
      const add: { [level: string]: { [what: string]: Json } } = {};
      for (const { of, what } of reached) add[of] = { ...add[of], [what]: Number(amount) };
      return tried(this.#session.decideBudget(ask, "extend", add as Parameters<ChatSession["decideBudget"]>[2]));
    };
    return [{ key: `budget ${ask}`, lines: [`the budget is reached: ${words}`, help], answer }];
  }
}
