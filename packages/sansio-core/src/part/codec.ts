/** The codecs of what only some logs record. */
import { backgroundEvents } from "../background/codec.ts";
import { flowEvents } from "../flow/codec.ts";
import { handleEvents } from "../handle/codec.ts";
import { AskingCodec, linkEvents } from "../link/codec.ts";
import { processEvents } from "../process/codec.ts";
import { scheduleEvents } from "../schedule/codec.ts";

export const lateCodecs = {
  AskingCodec,
  events: { ...flowEvents, ...linkEvents, ...processEvents, ...handleEvents, ...backgroundEvents, ...scheduleEvents },
};
