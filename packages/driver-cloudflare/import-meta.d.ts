/** The types of the platform leave out what its modules do have. */
interface ImportMeta {
  readonly url: string;
}
