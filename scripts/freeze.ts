/** `pnpm freeze`: records the current protocol before its release. A test then holds it. */
import { writeFileSync } from "node:fs";
import { frozenFile, today } from "../test/freeze/frozen.ts";
import { pathOf } from "../test/project.ts";

const frozen = today();
writeFileSync(pathOf(frozenFile(frozen.protocol)), `${JSON.stringify(frozen, undefined, 2)}\n`);
const [logs, events] = [Object.keys(frozen.golden).length, Object.keys(frozen.events).length];
console.log(`protocol ${frozen.protocol}: ${logs} files of golden logs, ${events} types of events`);
