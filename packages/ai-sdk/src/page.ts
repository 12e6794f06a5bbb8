/** Names that a turn and its pages share: the server finds by them what a page speaks of. */

/** The name of the stream that shows a part of a turn. */
export const pageOf = (part: number): string => `page ${part}`;

/** The title of an approval: a page finds its call by the model's id in it. */
export const titleOf = (tool: string, id: string): string => `${tool} (${id})`;
export const isTitleOf = (title: string, id: string): boolean => title.endsWith(` (${id})`);

/** The id of an approval on a page: it says which part of the turn asked. */
export const approvalIdOn = (part: number, id: string): string => `${part}:${id}`;
export const partOfApproval = (id: string): number | undefined => {
  const [, part] = /^(\d+):/.exec(id) ?? [];
  return part === undefined ? undefined : Number(part);
};
