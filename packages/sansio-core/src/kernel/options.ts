/** Everything `step` reads besides the event and the rows. Options are events: they stand in `scope.opened`. */
import { type Codec, array, boolean, defaulted, nullable, oneOf, optional, record, u64 } from "@pawl/tool-value";
import type { Rejection } from "./error.ts";
import { type Limits, LimitsCodec } from "./limit.ts";
import { type ProtocolRule, hasRule, missingRule } from "./protocol.ts";

export interface Options {
  /** Calls that run at once in one batch; null: as many as there are. */
  readonly concurrency: number | null;
  /** How long running calls of a cancelled batch may still finish. */
  readonly grace_ms: number;
  /** Resolutions that nobody awaits yet. */
  readonly max_unclaimed: number;
  /** Answers to messages of one link that their sender has not heard; more messages are taken when it has. */
  readonly max_answers: number;
  /** Messages of one link that are not answered; a body that would send more waits. */
  readonly max_unanswered: number;
  /** Handles of processes that have ended; the oldest leave first. */
  readonly max_ended_handles: number;
  /**
   * In scopes of protocol 1: the pause before each resume after a lost owner; so many resumes in a row without a new
   * record are tried.
   */
  readonly resume_pauses_ms: readonly number[];
  /** From protocol 2 on: the pause after each crash in a row; the last one holds for all that follow. */
  readonly crash_pauses_ms: readonly number[];
  /** From protocol 2 on: so many crashes in a row park a call. */
  readonly max_crashes: number;
  /** From protocol 2 on: how long the end of a body waits for its steps, batches and requests to the host. */
  readonly effects_ms: number;
  /** From protocol 2 on: the bounds of a stream, in chunks and in bytes. */
  readonly max_stream_chunks: number;
  readonly max_stream_bytes: number;
  /** How long a call waits for an executor of its tool. */
  readonly no_executor_ms: number;
  /** How long a call that diverged waits for another version of its tool; without it for ever. */
  readonly divergence_ms?: number | undefined;
  /** Deadlines that pass in one step. */
  readonly expire_at_once: number;
  /** Nodes, and ends of bodies, that a flow may come to; and the text that it may make, in UTF-16 units. */
  readonly max_flow_nodes: number;
  readonly max_flow_text: number;
  /** Background runs of a session that are active at once; and how often a lost one is begun. */
  readonly max_runs: number;
  readonly max_run_attempts: number;
  /** The bound of a run's output, in code points. */
  readonly max_output: number;
  /** Tasks, and schedules, that are over; the oldest leave first. */
  readonly max_ended_tasks: number;
  /** Schedules of a session that are enabled at once, and the least seconds between two fires of one. */
  readonly max_schedules: number;
  readonly min_interval_s: number;
  /** The host can resolve unknown outcomes. */
  readonly resolver: boolean;
  /** Which hooks the host has. */
  readonly before_hook: boolean;
  readonly after_hook: boolean;
  readonly projection: boolean;
  /** The host tries a monitor's tool before it tells the session. */
  readonly probes: boolean;
  /** Turns that wait; and how long a model that is told to stop may still say what it has. */
  readonly max_waiting_turns: number;
  readonly stop_ms: number;
  /** The pause after each crash in a row of one model call; one more fails the turn. */
  readonly model_pauses_ms: readonly number[];
  /** Attempts of a model call on one route, and the pauses between them. */
  readonly max_attempts: number;
  readonly backoff_ms: number;
  readonly max_backoff_ms: number;
  /** A provider that asks for a longer pause is not asked again. */
  readonly max_retry_after_ms: number;
  /** Switches of frames in one turn, and frames that are kept. */
  readonly max_switches: number;
  readonly max_frames: number;
  /** The text of a stopped answer stays in the history. */
  readonly keep_partial: boolean;
  /** The limits of turns that say nothing else. */
  readonly turn_limits: Limits;
  /** Processes that are turns of an agent are run here, not by an engine. */
  readonly turns: boolean;
  /** The host checks turns before each model call and before their end; it decides on attempts that were lost. */
  readonly turn_check: boolean;
  readonly model_resolver: boolean;
  /** Decides about a turn with a limit of cost whose model has no price. */
  readonly unpriced: "fail" | "allow";
}

/** Sets the options of a scope, unless its runtime says otherwise. */
export const defaultOptions: Options = {
  concurrency: null,
  grace_ms: 50,
  max_unclaimed: 1000,
  max_answers: 1000,
  max_unanswered: 1000,
  max_ended_handles: 1000,
  resume_pauses_ms: [0, 1000, 4000, 16_000, 64_000],
  crash_pauses_ms: [0, 0, 1000, 2000, 5000, 10_000],
  max_crashes: 100,
  effects_ms: 60_000,
  max_stream_chunks: 100_000,
  max_stream_bytes: 8 * 1024 * 1024,
  no_executor_ms: 900_000,
  divergence_ms: undefined,
  expire_at_once: 256,
  max_flow_nodes: 100_000,
  max_flow_text: 64 * 1024 * 1024,
  max_runs: 5,
  max_run_attempts: 3,
  max_output: 262_144,
  max_ended_tasks: 100,
  max_schedules: 5,
  min_interval_s: 300,
  resolver: false,
  before_hook: false,
  after_hook: false,
  projection: false,
  probes: false,
  max_waiting_turns: 100,
  stop_ms: 1000,
  model_pauses_ms: [0, 1000, 4000],
  max_attempts: 5,
  backoff_ms: 1000,
  max_backoff_ms: 60_000,
  max_retry_after_ms: 900_000,
  max_switches: 16,
  max_frames: 100,
  keep_partial: true,
  turn_limits: { model_calls: { limit: 100 } },
  turns: true,
  turn_check: false,
  model_resolver: false,
  unpriced: "fail",
};

/** Why nothing would ever happen under these options, if so. */
export const invalidOption = ({
  concurrency,
  expire_at_once,
  max_crashes,
  max_unanswered,
}: Options): string | undefined => {
  if (concurrency === 0) return "concurrency: no call could ever start";
  if (max_crashes === 0) return "max_crashes: expected at least 1, which parks a call at its first crash";
  if (max_unanswered === 0) return "max_unanswered: no message could ever be sent";
  return expire_at_once === 0 ? "expire_at_once: no deadline could ever pass" : undefined;
};

const kept = (): boolean => false;
const option = <A>(codec: Codec<A>, absent: A): ReturnType<typeof defaulted<A>> => defaulted(codec, absent, kept);

type Later =
  | "effects_ms"
  | "max_stream_chunks"
  | "max_stream_bytes"
  | "max_crashes"
  | "max_flow_nodes"
  | "max_flow_text"
  | "max_runs"
  | "max_run_attempts"
  | "max_output"
  | "max_ended_tasks"
  | "max_schedules"
  | "min_interval_s"
  | "max_waiting_turns"
  | "stop_ms"
  | "max_attempts"
  | "backoff_ms"
  | "max_backoff_ms"
  | "max_retry_after_ms"
  | "max_switches"
  | "max_frames";

/** An option that logs of before it do without: it is written where it differs. */
const unlessDefault = (name: Later): ReturnType<typeof defaulted<number>> =>
  defaulted(u64, defaultOptions[name], (value) => value === defaultOptions[name]);

/** As `unlessDefault`, of an option that is no number. */
const unlessSame = <A>(codec: Codec<A>, absent: A): ReturnType<typeof defaulted<A>> =>
  defaulted(codec, absent, (value) => textOf(value) === textOf(absent));
const textOf = (value: unknown): string => String(JSON.stringify(value));

/** Options that a later rule brought. A scope without the rule has them as by default, and they are not recorded. */
const since = {
  crash_pauses_ms: "crash_loops",
  max_crashes: "crash_loops",
  effects_ms: "waits_for_effects",
  max_stream_chunks: "streams",
  max_stream_bytes: "streams",
  divergence_ms: "parked_divergence",
  max_waiting_turns: "turns",
  stop_ms: "turns",
  model_pauses_ms: "turns",
  max_attempts: "turns",
  backoff_ms: "turns",
  max_backoff_ms: "turns",
  max_retry_after_ms: "turns",
  max_switches: "turns",
  max_frames: "turns",
  keep_partial: "turns",
  turn_limits: "turns",
  turns: "turns",
  turn_check: "turns",
  model_resolver: "turns",
  unpriced: "turns",
} as const satisfies {
  readonly [O in keyof Options]?: ProtocolRule;
};
const young = Object.keys(since) as readonly (keyof typeof since)[];

/** Returns the options that a scope of this protocol has: those of later protocols are as by default. */
export const optionsUnder = (protocol: number, options: Options): Options => {
  const missing = young.filter((name) => !hasRule(protocol, since[name]));
  return { ...options, ...Object.fromEntries(missing.map((name) => [name, defaultOptions[name]])) };
};

/** Refuses options that the protocol of their scope does not have. */
export const youngOption = (protocol: number, options: Options): Rejection | undefined => {
  const had = optionsUnder(protocol, options);
  const name = young.find((one) => textOf(options[one]) !== textOf(had[one]));
  return name === undefined ? undefined : missingRule(protocol, since[name], `the option \`${name}\``);
};

export const Options: Codec<Options> = record<Options>("struct Options", {
  concurrency: nullable(u64),
  grace_ms: option(u64, defaultOptions.grace_ms),
  max_unclaimed: option(u64, defaultOptions.max_unclaimed),
  max_answers: option(u64, defaultOptions.max_answers),
  max_unanswered: option(u64, defaultOptions.max_unanswered),
  max_ended_handles: option(u64, defaultOptions.max_ended_handles),
  resume_pauses_ms: option(array(u64), defaultOptions.resume_pauses_ms),
  crash_pauses_ms: unlessSame(array(u64), defaultOptions.crash_pauses_ms),
  max_crashes: unlessDefault("max_crashes"),
  effects_ms: unlessDefault("effects_ms"),
  max_stream_chunks: unlessDefault("max_stream_chunks"),
  max_stream_bytes: unlessDefault("max_stream_bytes"),
  no_executor_ms: option(u64, defaultOptions.no_executor_ms),
  divergence_ms: optional(u64),
  expire_at_once: option(u64, defaultOptions.expire_at_once),
  max_flow_nodes: unlessDefault("max_flow_nodes"),
  max_flow_text: unlessDefault("max_flow_text"),
  max_runs: unlessDefault("max_runs"),
  max_run_attempts: unlessDefault("max_run_attempts"),
  max_output: unlessDefault("max_output"),
  max_ended_tasks: unlessDefault("max_ended_tasks"),
  max_schedules: unlessDefault("max_schedules"),
  min_interval_s: unlessDefault("min_interval_s"),
  resolver: option(boolean, defaultOptions.resolver),
  before_hook: option(boolean, defaultOptions.before_hook),
  after_hook: option(boolean, defaultOptions.after_hook),
  projection: option(boolean, defaultOptions.projection),
  probes: defaulted(boolean, defaultOptions.probes, (probes) => !probes),
  max_waiting_turns: unlessDefault("max_waiting_turns"),
  stop_ms: unlessDefault("stop_ms"),
  model_pauses_ms: unlessSame(array(u64), defaultOptions.model_pauses_ms),
  max_attempts: unlessDefault("max_attempts"),
  backoff_ms: unlessDefault("backoff_ms"),
  max_backoff_ms: unlessDefault("max_backoff_ms"),
  max_retry_after_ms: unlessDefault("max_retry_after_ms"),
  max_switches: unlessDefault("max_switches"),
  max_frames: unlessDefault("max_frames"),
  keep_partial: unlessSame(boolean, defaultOptions.keep_partial),
  turn_limits: unlessSame(LimitsCodec, defaultOptions.turn_limits),
  turns: unlessSame(boolean, defaultOptions.turns),
  turn_check: unlessSame(boolean, defaultOptions.turn_check),
  model_resolver: unlessSame(boolean, defaultOptions.model_resolver),
  unpriced: unlessSame(oneOf<Options["unpriced"]>("fail or allow", "fail", "allow"), defaultOptions.unpriced),
});
