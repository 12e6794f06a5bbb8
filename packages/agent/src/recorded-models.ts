/**
 * Models that answer as a log says: a session is recorded once, as its log, and replayed without a network. A question that
 * differs from the recorded one fails its attempt, and says where it differs.
 */
import { Refused, importLog, memoryJournal } from "@pawl/runtime";
import { type ModelAnswer, type ModelCall, ModelError, type ModelPort, Values, recordedIn } from "@pawl/runtime/driver";
import { type Event, type EventOf, type State, follow, initial } from "@pawl/sansio-core";
import { type Piece, type PromptPlan, type Route, promptOf, promptPlan, seqsOf } from "@pawl/sansio-core/driver";
import { type Json, hashText } from "@pawl/tool-value";
import * as E from "fp-ts/lib/Either.js";
import { type AskedWith, differenceText, promptDifference } from "./prompt-difference.ts";

export interface RecordingOptions {
  /** Leaves out failures that are on record: every model call is answered at once. */
  readonly answersOnly?: boolean;
}

type Ended = EventOf<"model.answered"> | EventOf<"model.failed">;

/** An attempt that is on record, with what the model was asked. */
interface RecordedAttempt {
  readonly ended: Ended;
  readonly plan: PromptPlan;
  /** The event that submitted the turn. */
  readonly born: number;
  /** The pieces that were said before the end. */
  readonly streamed: readonly Piece[];
}

const callKey = ({ request, n }: { readonly request: string; readonly n: number }): string => `${request}/${n}`;

const failuresOf = ({ key }: ModelCall): number => Number(key.slice(key.lastIndexOf(".") + 1));

class Recording {
  readonly #attempts = new Map<string, RecordedAttempt[]>();
  readonly #events = new Map<number, Event>();
  readonly #values: Values;
  readonly #streamed = new Map<string, Piece[]>();

  private constructor(values: Values) {
    this.#values = values;
  }

  static async of(log: Iterable<string>): Promise<Recording> {
    const journal = memoryJournal();
    const { scope } = await importLog(journal, "recorded", log);
    const values = new Values({ scope: scope.id, blobs: journal.blobs, limit: Infinity, hashText });
    const recording = new Recording(values);
    let state = initial(scope.id);
    for (const line of await journal.read(scope.id, 1)) {
      const recorded = recordedIn(scope.id, line);
      recording.#take(state, line.seq, recorded.event);
      const next = follow(state, recorded, line.seq);
      if (E.isLeft(next)) throw new Refused("quarantined", `event ${line.seq} of the log does not replay`);
      ({ state } = next.right);
    }
    return recording;
  }

  #take(before: State, seq: number, event: Event): void {
    this.#events.set(seq, event);
    if (event.type === "model.streamed") {
      const key = `${callKey(event)}/${event.attempt}`;
      this.#streamed.set(key, [...(this.#streamed.get(key) ?? []), ...event.pieces]);
    }
    if (event.type !== "model.answered" && event.type !== "model.failed") return;
    const plan = promptPlan(before, event.request);
    const born = before.conversation.running?.born;
    if (plan === undefined || born === undefined) return;
    const key = callKey(event);
    const streamed = this.#streamed.get(`${key}/${event.attempt}`) ?? [];
    this.#attempts.set(key, [...(this.#attempts.get(key) ?? []), { ended: event, plan, born, streamed }]);
  }

  async #read(seqs: readonly number[]): Promise<(seq: number) => Event> {
    const events = new Map<number, Event>();
    for (const seq of seqs) {
      const event = this.#events.get(seq);
      if (event !== undefined) events.set(seq, await this.#values.of(event));
    }
    return (seq) => {
      const event = events.get(seq);
      if (event === undefined) throw new Refused("gone", `event ${seq}, which a prompt shows, is not in the log`);
      return event;
    };
  }

  /** Returns what the model was asked with. */
  async #asked({ plan, born }: RecordedAttempt): Promise<AskedWith> {
    const read = await this.#read([plan.agent, born, ...plan.entries.flatMap(seqsOf)]);
    const [agent, submitted] = [read(plan.agent), read(born)];
    if (agent.type !== "agent.published") throw new Refused("gone", `event ${plan.agent} publishes no agent`);
    const { spec } = agent;
    const route = spec.routes[plan.route] ?? { provider: "", model: "" };
    const output = (submitted.type === "turn.submitted" ? submitted.output : undefined) ?? spec.output ?? null;
    return {
      model: `${route.provider}/${route.model}`,
      settings: route.settings ?? null,
      tools: spec.shown as unknown as Json,
      toolChoice: plan.tools ? (spec.tool_choice ?? "auto") : "none",
      output: (plan.summarizes ? null : output) as Json,
      messages: promptOf(plan, read),
    };
  }

  #find(call: ModelCall, { answersOnly = false }: RecordingOptions): RecordedAttempt {
    const all = this.#attempts.get(callKey(call)) ?? [];
    const found = answersOnly
      ? all.find(({ ended }) => ended.type === "model.answered")
      : all[Math.min(failuresOf(call), all.length - 1)];
    if (found !== undefined) return found;
    const has = this.#attempts.size === 0 ? "no model call" : [...this.#attempts.keys()].join(", ");
    throw new ModelError(
      "invalid_request",
      `not_recorded: the log has no answer of model call ${call.n} of turn \`${call.request}\`; it has ${has}`,
    );
  }

  /** Answers as it is on record, if the question is the recorded one. */
  async answer(route: Route, call: ModelCall, options: RecordingOptions): Promise<ModelAnswer> {
    const found = this.#find(call, options);
    const asked = {
      model: `${route.provider}/${route.model}`,
      settings: call.settings,
      tools: call.tools as unknown as Json,
      toolChoice: call.toolChoice,
      output: (call.output ?? null) as unknown as Json,
      messages: call.prompt,
    };
    const difference = promptDifference(await this.#asked(found), asked);
    if (difference !== undefined) {
      const where = `model call ${call.n} of turn \`${call.request}\``;
      throw new ModelError("invalid_request", `prompt_diverged: ${where}: ${differenceText(difference)}`);
    }
    const ended = await this.#values.of(found.ended);
    if (ended.type === "model.failed") throw new ModelError(ended.class, ended.message, { retryAfterMs: 0 });
    return this.#say(ended, found, call);
  }

  /** Says what was said, and returns the rest. An answer that went on from a text has it in front. */
  async #say(
    ended: EventOf<"model.answered">,
    { plan, streamed }: RecordedAttempt,
    call: ModelCall,
  ): Promise<ModelAnswer> {
    const { pieces, finish, usage, provider_id, model_id, meta, warnings } = ended;
    const isWhole = plan.prefix === "" || call.prefix !== undefined;
    const shifted = (of: readonly Piece[]): readonly Piece[] =>
      isWhole ? of : of.map((piece) => ({ ...piece, b: piece.b + 1 }));
    if (!isWhole) call.say({ b: 0, type: "text", text: plan.prefix });
    for (const piece of shifted(await this.#values.of(streamed))) call.say(piece);
    return {
      pieces: shifted(pieces),
      finish,
      usage,
      ...(provider_id === undefined ? {} : { provider_id }),
      ...(model_id === undefined ? {} : { model_id }),
      ...(meta === undefined ? {} : { meta }),
      ...(warnings === undefined ? {} : { warnings }),
    };
  }
}

/**
 * Makes the `models` of a host out of a log, as `pawl export` writes it: `agentHost([main], { models: recordedModels(log) })`.
 * Attempts are found by the ids of their turns and the number of the model call. Nothing else is ever asked.
 */
export const recordedModels = (
  log: string | Iterable<string>,
  options: RecordingOptions = {},
): ((route: Route) => ModelPort) => {
  let recording: Promise<Recording> | undefined;
  return (route) => ({
    ask: async (call) => {
      recording ??= Recording.of(typeof log === "string" ? [log] : log);
      return (await recording).answer(route, call, options);
    },
  });
};
