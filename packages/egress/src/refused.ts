/** A request that was not made, since it would have gone where it may not. */
export class EgressRefused extends Error {
  override readonly name = "EgressRefused";
  readonly code = "egress_refused";

  constructor(host: string, address = host) {
    const shown = host === address ? host : `${host} (${address})`;
    super(`${shown} is not a public address; its host may allow it by option`);
  }
}
