/** `@pawl/inspector`: an element that opens any log and travels through it. */
export { type Engine, type EngineOptions, engineOf } from "./source/engine.ts";
export {
  type Observed,
  type Source,
  type Tab,
  fileSource,
  observedSource,
  sessionSource,
  tabSource,
  textSource,
} from "./source/source.ts";
export { type InspectorOptions, PawlInspector, defineInspector } from "./view/element.ts";
export { type ForkedLog } from "./worker/message.ts";
