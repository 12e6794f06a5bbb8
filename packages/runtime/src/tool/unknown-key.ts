/** The first name in an object that is not among those that there are; and what to say of it. */
export const unknownKeyIn = (at: string, given: object, known: object): string | undefined => {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(known, name))
      return `\`${at}${name}\` is no option: expected some of ${Object.keys(known).join(", ")}`;
  return undefined;
};
