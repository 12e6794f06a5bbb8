/** Why a host closed a connection. The range from 4000 on is an application's own. */
export const closeCodes = {
  unsupported_protocol: 4000,
  unauthorized: 4001,
  token_expired: 4002,
  hello_expected: 4003,
  too_many_bad_frames: 4007,
  slow_reader: 4008,
  going_away: 1001,
} as const;

export type CloseReason = keyof typeof closeCodes;

/** Closings after which the same client under the same token is refused again; one that was late may be in time. */
export const isFinal = (code: number): boolean =>
  code === closeCodes.unsupported_protocol || code === closeCodes.unauthorized;
