/** `@pawl/inspector`: an element that opens any log and travels through it. */
export { type Engine, type EngineOptions, engineOf } from "./source/engine.ts";
export { type Observed, type Tab, observedSource, sessionSource, tabSource } from "./source/live.ts";
export { type Source, fileSource, textSource } from "./source/source.ts";
export { type ForkedLog } from "./worker/message.ts";
export { type InspectorOptions, PawlInspector, defineInspector } from "./view/element.ts";
