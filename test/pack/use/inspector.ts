import { defineInspector, textSource } from "@pawl/inspector";
import { Recording } from "@pawl/inspector/model";
import { type State, headerLine, initial, write } from "@pawl/sansio-core";
import { isRight } from "fp-ts/lib/Either.js";

/** An element is for pages; here its parts are there, and its model reads a log. */
if (typeof defineInspector !== "function" || textSource("log", "").name !== "log") throw new Error("not the inspector");
const scope = "session:s";
const header = { format: 1, protocol: 1, scope, epoch: 1, writer: "use", base: 0 };
let state: State = initial(scope);
let text = headerLine(header);
for (let seq = 1; seq <= 3; seq++) {
  const { options } = state.scope;
  const opened = { type: "scope.opened", epoch: 1, owner: "o", protocol: 1, options } as const;
  const written = write(state, { seq, at: seq, event: seq === 1 ? opened : { type: "clock.ticked" } });
  if (!isRight(written)) throw new Error(written.left.message);
  state = written.right.state;
  text += written.right.line;
}
const recording = new Recording();
recording.feed(text);
recording.end();
console.log(recording.last, "at", recording.lanes.marks[0]?.seq);
