/** For pages that work with logs of any kind: all that others load when they need it. */
import { amongCode } from "../among-code.ts";
import { amongSlot, codecSlot, flowSlot } from "./at-hand.ts";
import { lateCodecs } from "./codec.ts";
import { flowCode } from "../flow-code.ts";

export const fillCodecs = (): void => codecSlot.fill(lateCodecs);

export const fillFlows = (): void => {
  fillCodecs();
  flowSlot.fill(flowCode);
};

export const fillAmong = (): void => {
  fillCodecs();
  amongSlot.fill(amongCode);
};

export const fillAll = (): void => {
  fillFlows();
  fillAmong();
};
