/**
 * Files that a page loads later. A browser keeps in mind that one did not come, for as long as the page is there, and
 * asks for it again only under another address; which it was, it says in the error.
 */
const addressIn = (thrown: unknown): string | undefined =>
  thrown instanceof TypeError ? /\bhttps?:\S+$/.exec(thrown.message)?.[0] : undefined;

/** Loads a file; where it did not come, the next call asks for it again. */
export const laterFile = <A>(load: () => Promise<A>): (() => Promise<A>) => {
  let address: string | undefined;
  let losses = 0;
  const loadAgain = (): Promise<A> =>
    import(/* @vite-ignore */ /* webpackIgnore: true */ `${address}#${losses}`) as Promise<A>;
  return async () => {
    try {
      return await (address === undefined ? load() : loadAgain());
    } catch (thrown) {
      address ??= addressIn(thrown);
      losses += 1;
      throw thrown;
    }
  };
};
