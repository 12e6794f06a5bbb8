/** What stands in the log of a scope, for one who has seen it up to a cursor. */
import { type State, follow } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";
import type { Access } from "../../scope/access.ts";
import { Quarantined, recordedIn } from "../../scope/fold.ts";
import { type Cursor, type Frame, isAfter } from "./observation.ts";
import { observedIn } from "./observed.ts";

/** Events that are folded before others get their turn. */
const eventsATurn = 256;

const turn = ({ platform }: Access): Promise<void> => new Promise((resolve) => platform.nextTurn(resolve));

/** From after the cursor up to a sequence. What retention has taken is a gap, also what it takes just now: lines come first. */
export async function* observePast(access: Access, after: Cursor, upTo: number): AsyncGenerator<Frame> {
  const { runner, readLines } = access;
  const { id: scope } = runner;
  await runner.whenDurable();
  const whole = await readLines(1, upTo);
  let state: State = await access.begun();
  const { seq: base } = state;
  const lines = whole.filter(({ seq }) => seq > base);
  const lost = Math.min(base, upTo); // What comes behind that is told as it happens.
  if (after.seq < lost) yield { type: "gap", from: after, to: { scope, seq: lost, index: 0 } };
  for (const [i, line] of lines.entries()) {
    const recorded = recordedIn(scope, line);
    const followed = follow(state, recorded, line.seq);
    if (E.isLeft(followed)) throw new Quarantined(scope, `event ${line.seq} can not be followed`, followed.left);
    state = followed.right.state;
    const observed = line.seq < after.seq ? [] : observedIn(scope, recorded, followed.right.commands);
    for (const frame of observed) if (isAfter(frame.cursor, after)) yield await access.values.of(frame);
    if (i % eventsATurn === eventsATurn - 1) await turn(access);
  }
}
