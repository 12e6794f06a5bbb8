/**
 * `tasks/get`, `tasks/update` and `tasks/cancel`. A task that nobody here has handed to this caller is unknown, whichever
 * way its id is wrong. Ends are kept for a while, since an end that was fetched leaves the state of its session.
 */
import { MissingRequiredClientCapabilityError, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { Refused } from "@pawl/runtime";
import type { Json } from "@pawl/tool-value";
import { type Client, type RequestPlace, type ServerPort, acknowledge, admit, mayApprove, schemaOf } from "./port.ts";
import { answersIn, questionsOf, takeAnswers } from "./question.ts";
import { type TaskView, viewOf } from "./task-view.ts";
import { type TaskMethod, tasksExtension } from "./wire.ts";

type Params = { readonly [name: string]: unknown };
type Ack = { readonly resultType: "complete" };

const acknowledged: Ack = { resultType: "complete" };

const unknownTask = (): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    "unknown task: expected an id that this server has given to this caller",
  );

/** Codes by which a session says that it has no such request, or no longer. */
const gone = new Set(["request_unknown", "gone"]);

const orUnknown = (thrown: unknown): never => {
  throw thrown instanceof Refused && gone.has(thrown.code) ? unknownTask() : thrown;
};

const mostKept = 256;

export class Tasks {
  readonly #port: ServerPort;
  /** Tasks that have ended, by id: those that were fetched last. */
  readonly #ended = new Map<string, TaskView>();

  constructor(port: ServerPort) {
    this.#port = port;
  }

  /** Answers a method of the extension. */
  async answer(method: TaskMethod, params: Params, client: Client): Promise<TaskView | Ack> {
    if (!client.hasTasks)
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [tasksExtension]: {} } },
      });
    const place = this.#placeOf(params["taskId"], client);
    switch (method) {
      case "tasks/get":
        return this.get(place, client);
      case "tasks/update":
        return this.#update(place, answersIn(params["inputResponses"]), client);
      case "tasks/cancel":
        return this.#cancel(place, client);
    }
  }

  #placeOf(id: unknown, { caller }: Client): RequestPlace {
    const parts = typeof id === "string" ? this.#port.tokens.read("task", caller.by, id) : undefined;
    const [session, request, tool] = parts ?? [];
    if (session === undefined || request === undefined || tool === undefined) throw unknownTask();
    admit(caller, "call", session);
    return { session, request, tool };
  }

  /** Views a task. An end that was seen is acknowledged: it is read from the log from then on. */
  async get(place: RequestPlace, client: Client): Promise<TaskView> {
    const id = JSON.stringify([client.caller.by, client.isModern, place.session, place.request]);
    const known = this.#ended.get(id);
    if (known !== undefined) return known;
    const view = await viewOf(this.#port, client, place).catch(orUnknown);
    if (view.status === "working" || view.status === "input_required") return view;
    this.#keep(id, view);
    acknowledge(this.#port, place);
    return view;
  }

  #keep(id: string, view: TaskView): void {
    const [oldest] = this.#ended.keys();
    if (this.#ended.size >= mostKept && oldest !== undefined) this.#ended.delete(oldest);
    this.#ended.set(id, view);
  }

  /** Takes answers to questions of a task. Those to questions that it does not have are passed over. */
  async #update(place: RequestPlace, answers: ReadonlyMap<string, Json>, { caller }: Client): Promise<Ack> {
    const session = await this.#port.runtime.session(place.session);
    if (!mayApprove(caller, place.session)) return acknowledged;
    const questions = await questionsOf(session, place.request, schemaOf(this.#port.runtime));
    const { problems } = await takeAnswers(questions, answers, caller.by);
    if (problems.length > 0) throw new ProtocolError(ProtocolErrorCode.InvalidParams, problems.join("; "));
    return acknowledged;
  }

  /** Tells a task to stop. One that has ended stays as it ended: whichever came first is on record. */
  async #cancel({ session: name, request }: RequestPlace, { caller }: Client): Promise<Ack> {
    const session = await this.#port.runtime.session(name);
    if (session.state.requests.at(request)?.phase !== "running") {
      await session.status(request).catch(orUnknown);
      return acknowledged;
    }
    await session.cancel({ request }, caller.by).catch((thrown: unknown) => {
      if (!(thrown instanceof Refused)) throw thrown; // The task has ended meanwhile, or was told before.
    });
    return acknowledged;
  }
}
