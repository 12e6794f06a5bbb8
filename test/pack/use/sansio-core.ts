import { currentProtocol, defaultOptions, initial, step } from "@pawl/sansio-core";
import * as E from "fp-ts/lib/Either.js";

const opened = step(initial("session:s"), {
  seq: 1,
  at: 0,
  event: { type: "scope.opened", epoch: 1, owner: "here", protocol: currentProtocol, options: defaultOptions },
});
if (E.isLeft(opened)) throw new Error(opened.left.message);
console.log(opened.right.state.scope.epoch, opened.right.commands.length);
