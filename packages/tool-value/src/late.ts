/** Code that is not there yet was needed. Nothing has come of it: with the code it can be done again. */
export class NotLoaded extends Error {
  override readonly name = "NotLoaded";
}
