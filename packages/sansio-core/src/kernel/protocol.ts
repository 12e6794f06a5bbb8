/**
 * Behaviour belongs to the log, not to the build: each branch of behaviour that differs between protocols stands here,
 * with the release that brought it and the golden logs that hold it. There is one protocol so far.
 */

/** The protocol of new scopes. A core refuses scopes of a newer one before it claims them. */
export const currentProtocol = 1;

export const isKnownProtocol = (protocol: number): boolean => protocol >= 1 && protocol <= currentProtocol;
