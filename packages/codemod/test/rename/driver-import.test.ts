import { describe, expect, it } from "vitest";
import { driverImport } from "../../src/rename/driver-import.ts";
import { rewritten } from "./frame.ts";

const after = (before: string): string => rewritten(driverImport, before);

describe("names that no program needs", () => {
  it("come from the entry for drivers, the others from where they did", () => {
    expect(after('import { type LiveTool, defineTool } from "@pawl/runtime";\n')).toBe(
      'import { defineTool } from "@pawl/runtime";\nimport { type LiveTool } from "@pawl/runtime/driver";\n',
    );
    expect(after('import type { Offer, Session } from "@pawl/runtime"')).toBe(
      'import type { Session } from "@pawl/runtime"\nimport type { Offer } from "@pawl/runtime/driver"',
    );
  });

  it("join the import that there is, and leave none behind that is empty", () => {
    const both =
      'import { isSuccess as ended } from "@pawl/runtime";\nimport { isHash } from "@pawl/runtime/driver";\n';
    expect(after(both)).toBe('import { isHash, isSuccess as ended } from "@pawl/runtime/driver";\n');
    expect(after('export { type Probe } from "@pawl/runtime";\n')).toBe(
      'export { type Probe } from "@pawl/runtime/driver";\n',
    );
  });

  it("of other packages stay where they are", () => {
    const others = 'import { type Offer } from "./offer.ts";\nimport { Engine } from "engines";\n';
    expect(after(others)).toBe(others);
  });
});
