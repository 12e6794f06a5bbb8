/** What a snapshot leaves out, since it goes without saying. */
export const isEmpty = (list: readonly unknown[]): boolean => list.length === 0;
export const isNone = (n: number): boolean => n === 0;
export const isFalse = (flag: boolean): boolean => !flag;
