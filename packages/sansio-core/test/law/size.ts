/** `node packages/sansio-core/test/law/size.ts`: what states weigh, after a hundred thousand calls and a million steps. */
import { Load, bytesPerApproval, bytesPerPending, bytesPerStep, manyCalls, manySteps } from "./load.ts";

const say = (what: string, found: number | string): void => console.log(`${what}: ${found}`);

say("bytes per settled step (at most 120)", bytesPerStep().toFixed(1));
say("bytes per pending call (at most 600)", bytesPerPending().toFixed(1));
say("bytes per call that awaits approval (at most 600)", bytesPerApproval().toFixed(1));

const calls = Load.open();
for (let done = 0; done < 100_000; done += 10_000) {
  manyCalls(calls, done, done + 10_000);
  say(`bytes after ${done + 10_000} calls, ${calls.state.seq} events`, calls.size);
}

const body = Load.open().submit("r");
for (let done = 0; done < 1_000_000; done += 100_000) {
  manySteps(body, done, done + 100_000, 1000);
  say(`bytes after ${done + 100_000} steps, ${body.state.seq} events`, body.size);
}
