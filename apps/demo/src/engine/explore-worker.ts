/** The worker that runs the explorers of `@pawl/testkit`, the same ones that run in tests. */
import {
  type CrashReport,
  describeCrashes,
  describeMoment,
  describeSchedules,
  exploreCrashes,
  exploreSchedules,
  runScenario,
} from "@pawl/testkit";
import { type FromExplorer, type Point, type ToExplorer, headerOf } from "./message.ts";
import { type Care, scenarioOf } from "./explore-scenario.ts";

const port = globalThis as unknown as Worker;
const send = (message: FromExplorer): void => port.postMessage(message, []);

const pairs = 120;

const isAlone = (blows: readonly { readonly n: number }[], n: number): boolean =>
  blows.length === 1 && blows[0]?.n === n;

/** Returns the result of each single crash. */
const pointsOf = async (care: Care, report: CrashReport): Promise<readonly Point[]> => {
  const { moments } = await runScenario(scenarioOf(care));
  return moments.map((moment, i) => ({
    n: i + 1,
    where: describeMoment(moment),
    harm: report.violations.find(({ blows }) => isAlone(blows, i + 1))?.harm,
    isUnknown: report.unknown.some((blows) => isAlone(blows, i + 1)),
  }));
};

/** Counts the distinct runs: one run may do harm in several ways. */
const countDistinct = (runs: readonly (readonly string[])[]): number => new Set(runs.map((run) => run.join("\n"))).size;

const crashes = async (care: Care): Promise<void> => {
  const report = await exploreCrashes(scenarioOf(care), { pairs });
  send({ type: "points", points: await pointsOf(care, report) });
  const runs = 1 + report.points + report.pairs;
  const harmed = countDistinct(report.violations.map(({ blows }) => blows.map(({ n, fate }) => `${fate} ${n}`)));
  send({ type: "report", words: describeCrashes(report), runs, harmed });
};

const orders = async (care: Care): Promise<void> => {
  const report = await exploreSchedules(scenarioOf(care), { orders: 400 });
  const harmed = countDistinct(report.violations.map(({ order }) => order));
  send({ type: "report", words: describeSchedules(report), runs: report.orders, harmed });
};

const log = async (care: Care, dieAt: number): Promise<void> => {
  const { logs } = await runScenario(scenarioOf(care), { director: (_, n) => (n === dieAt ? "die" : "live") });
  const [scope = "", lines = []] = [...logs][0] ?? [];
  const text = [headerOf(scope), ...lines.map(({ line }) => line)].join("");
  send({ type: "log", name: `${scope}, crash at moment ${dieAt}`, text });
};

const perform = (message: ToExplorer): Promise<void> => {
  switch (message.type) {
    case "crashes":
      return crashes(message.care);
    case "orders":
      return orders(message.care);
    case "log":
      return log(message.care, message.dieAt);
  }
};

port.addEventListener("message", ({ data }: MessageEvent<ToExplorer>) => {
  perform(data).catch((thrown: unknown) => send({ type: "fault", message: String(thrown) }));
});
