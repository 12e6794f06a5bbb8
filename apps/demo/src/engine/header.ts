/** What a log begins with, as this page and its workers hand it to the inspector. */
import { currentFormat, currentProtocol, headerLine } from "@pawl/sansio-core";

export const headerOf = (scope: string): string =>
  headerLine({ format: currentFormat, protocol: currentProtocol, scope, epoch: 1, writer: "pawl demo", base: 0 });
