/** All commands, in the order of the help. */
import { approveCommand, rejectCommand } from "./act/approve.ts";
import { cancelCommand } from "./act/cancel.ts";
import { forgetCommand } from "./act/forget.ts";
import { forkCommand } from "./act/fork.ts";
import { moveCommand } from "./act/move.ts";
import { resolveCommand } from "./act/resolve.ts";
import { blobsSweep } from "./blob/sweep.ts";
import type { Command } from "./command.ts";
import { exploreCommand } from "./explore/explore.ts";
import { flowCheck } from "./flow/check.ts";
import { flowRun } from "./flow/run.ts";
import { hostCommand } from "./host/host.ts";
import { tokenCommand } from "./host/token.ts";
import { logDiff } from "./log/diff.ts";
import { logExport } from "./log/export.ts";
import { logHead } from "./log/head.ts";
import { logImport } from "./log/import.ts";
import { logReplay } from "./log/replay.ts";
import { logVerify } from "./log/verify.ts";
import { doctorCommand } from "./scope/doctor.ts";
import { lsCommand } from "./scope/ls.ts";
import { showCommand } from "./scope/show.ts";
import { whyCommand } from "./scope/why.ts";
import { checkUpgradeCommand } from "./upgrade/check-upgrade.ts";

export const commands: readonly Command[] = [
  lsCommand,
  showCommand,
  whyCommand,
  resolveCommand,
  approveCommand,
  rejectCommand,
  cancelCommand,
  forkCommand,
  moveCommand,
  forgetCommand,
  doctorCommand,
  blobsSweep,
  checkUpgradeCommand,
  exploreCommand,
  hostCommand,
  tokenCommand,
  flowRun,
  flowCheck,
  logExport,
  logImport,
  logVerify,
  logReplay,
  logDiff,
  logHead,
];
