/** The title and the tags of a session, and tools of its own in place of the runtime's: all on record. */
import type { EventOf, State } from "@pawl/sansio-core";
import type { Access } from "../scope/access.ts";
import { record } from "../scope/access.ts";
import type { Registry } from "../tool/registry.ts";
import type { ToolDefinition } from "../tool/definition.ts";

/** How people find a session. */
export interface About {
  readonly title?: string;
  readonly tags: readonly string[];
}

export const aboutOf = ({ about: { title, tags } }: State): About => (title === undefined ? { tags } : { title, tags });

/** Options of a session that is opened. */
export interface SessionOptions extends Partial<About> {
  /**
   * Tools of its own, in place of the runtime's. A session that is opened again without them, as after a crash, keeps its
   * catalog, and its calls wait until they are there.
   */
  readonly tools?: readonly ToolDefinition[] | Registry;
}

type Described = Omit<EventOf<"scope.described">, "type">;

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((tag, i) => tag === b[i]);

/** Returns what is new of a description; undefined where the scope has been told all of it. */
const newsIn = ({ about }: State, { title, tags, own_tools }: Described): Described | undefined => {
  const news = {
    ...(title === undefined || title === about.title ? {} : { title }),
    ...(tags === undefined || isSame(tags, about.tags) ? {} : { tags }),
    ...(own_tools === undefined || own_tools === about.ownTools ? {} : { own_tools }),
  };
  return Object.keys(news).length === 0 ? undefined : news;
};

/** Records what is new of a description. */
export const describe = async (access: Access, { title, tags }: Partial<About>, ownTools?: boolean): Promise<void> => {
  const said = {
    ...(title === undefined ? {} : { title }),
    ...(tags === undefined ? {} : { tags }),
    ...(ownTools === undefined ? {} : { own_tools: ownTools }),
  };
  const news = newsIn(access.runner.state, said);
  if (news === undefined) return access.runner.whenDurable();
  return record(access, { type: "scope.described", ...news });
};
