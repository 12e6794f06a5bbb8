/** Links to headings. */

/** Returns the name under which hosts of Git, and so the links of the pages, know a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
