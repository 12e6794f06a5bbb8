/** The three objects that a scope is made of, for tests of one part alone. */
import { LogPages } from "../src/session/observe/log-page.ts";
import { initial } from "@pawl/sansio-core";
import { type Journal, memoryJournal, type RuntimeOptions } from "../src/index.ts";
import { defaultPatience } from "../src/body/body-end.ts";
import { HostRequests } from "../src/host/host-request.ts";
import { CrashTurns } from "../src/lifecycle/crash-turn.ts";
import { Shutdown } from "../src/lifecycle/lease.ts";
import { Places } from "../src/process/run/background.ts";
import { QueueDoor } from "../src/queue/door.ts";
import { ScopeClock } from "../src/scope/clock.ts";
import { RejectedSizes } from "../src/scope/large-values.ts";
import { type ScopeStore, scopeStoreOf } from "../src/scope/scope-store.ts";
import { Admission } from "../src/session/admission.ts";
import { Executors } from "../src/session/executor/executor.ts";
import type { Instance } from "../src/session/instance.ts";
import { ModelPlaces } from "../src/turn/pace.ts";
import type { TestPlatform } from "./world.ts";

/** Makes an instance with one scope, no lease, and nobody else to reach. */
export const instanceOf = (platform: TestPlatform): Instance => ({
  owner: "a",
  platform,
  telemetry: undefined,
  patience: defaultPatience,
  admission: new Admission(),
  pages: new LogPages(),
  executors: new Executors(platform, 1000, { lost: () => undefined, available: () => undefined }),
  hostRequests: new HostRequests(),
  places: new Places(1),
  models: new ModelPlaces(),
  crashTurns: new CrashTurns(platform),
  queues: new QueueDoor(
    { journal: memoryJournal(), tools: [], instance: "a" },
    { platform, mayAsk: () => true, fault: () => undefined },
  ),
  shutdown: new Shutdown(),
  schedule: () => undefined,
  isLeased: () => false,
  hasLapsed: () => false,
  open: () => Promise.reject(new Error("there is no other scope")),
  sent: () => undefined,
  glimpse: async (scope) => ({ state: initial(scope), isAlive: false }),
  awaiting: async () => [],
  isStored: async () => false,
  showIn: () => undefined,
  atRest: () => undefined,
  lost: () => undefined,
});

/** Makes the store of a session over a journal, as its owner has it that has opened it from nothing. */
export const storeOf = (
  platform: TestPlatform,
  journal: Journal,
  options: Pick<RuntimeOptions, "blobChars" | "retention" | "snapshotAfter"> = {},
  scope = "session:s",
): ScopeStore =>
  scopeStoreOf(
    { ...options, journal, platform },
    {
      scope,
      epoch: 1,
      clock: new ScopeClock(platform),
      opened: { snapshot: undefined, since: 0 },
      fault: () => undefined,
      rejected: new RejectedSizes(platform),
    },
  );
