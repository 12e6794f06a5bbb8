/** The 18 tools that every session has, if its host wants them. */
import { edit } from "./file/edit.ts";
import { folderTools } from "./file/folder.ts";
import { read } from "./file/read.ts";
import { reportProgress, writeTodos } from "./progress.ts";
import { BuiltinRegistry } from "./registry.ts";
import { arithmetic, currentTime, echo, forecast, weather } from "./simple.ts";
import type { BuiltinTool } from "./tool.ts";
import { type WebFetchOptions, type WebPort, webFetch } from "./web.ts";

export const defaultTools = (web?: WebPort, how?: WebFetchOptions): readonly BuiltinTool[] => [
  currentTime,
  echo,
  reportProgress,
  ...arithmetic,
  weather,
  forecast,
  writeTodos,
  read,
  edit,
  ...folderTools,
  webFetch(web, how),
];

export const defaultRegistry = (web?: WebPort): BuiltinRegistry => new BuiltinRegistry(defaultTools(web));
